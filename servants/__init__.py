"""What runs on the receiving host: one short program per family of arms."""
