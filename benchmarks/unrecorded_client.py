"""Our client program without the time stamp for every call."""

from __future__ import annotations

from orbtax import agent
from orbtax.clients.program import Client

if __name__ == "__main__":
    agent.run("client-unrecorded", Client(record=False).handle)
