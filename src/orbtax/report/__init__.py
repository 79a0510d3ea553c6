"""What a person sees: terminal, page, figures, tables."""
