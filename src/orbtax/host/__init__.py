"""What this machine is and does: environment, processor time, TCP state, noise."""
