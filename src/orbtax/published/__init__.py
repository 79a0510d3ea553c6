"""The published results that the studies reproduce, as data."""
