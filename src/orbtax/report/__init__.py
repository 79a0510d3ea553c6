"""What a person sees: terminal, page, figures, tables."""

import logging

# Without a home that can be written matplotlib keeps its cache in a temporary folder of its own:
# nothing that a person has to be told, among the results, at every report.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
