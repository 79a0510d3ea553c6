"""What runs on the sending host: the one timing loop and one short caller per arm."""
