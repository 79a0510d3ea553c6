"""The interface definitions that clients and servants share."""
