"""One file per question, on top of all of the rest."""
