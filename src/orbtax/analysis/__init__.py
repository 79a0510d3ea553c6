"""What the samples mean. Knows no socket and no ORB."""
