"""What an object request broker costs on a network link."""
