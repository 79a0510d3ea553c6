"""Every omniORB option that changes a result, set at both ends and never left to chance.

omniORB reads its options from the command line first, then from `ORB…` variables, then from a
configuration file. Setting each here on the command line, and starting programs without the
other two, is what makes two runs comparable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orbtax.model import Case

DEFAULT_MESSAGE_LIMIT_BYTES = 2_097_152
MESSAGE_ROOM_BYTES = 65_536
"""Room for the GIOP headers beside the payload."""
DEFAULT_POOL_THREADS = 100
SPARE_THREADS = 8
CONFIGURATION_FILE = Path("/etc/omniORB.cfg")

# omniORB 4.3.3's own defaults, but for the two idle scans: a connection that is closed while a
# case waits would be opened again inside the next block.
_FIXED = {
    "oneCallPerConnection": "1",
    "maxInterleavedCallsPerConnection": "5",
    "giopBufferSize": "8192",
    "giopDirectSendCutOff": "16384",
    "giopDirectReceiveCutOff": "1024",
    "giopMinChunkBeforeDirectSend": "1024",
    "clientCallTimeOutPeriod": "0",
    "supportCurrent": "1",
    "supportPerThreadTimeOut": "0",
    "verifyObjectExistsAndType": "1",
    "threadPerConnectionPolicy": "1",
    "maxServerThreadPerConnection": "100",
    "connectionWatchPeriod": "50000",
    "inConScanPeriod": "0",
    "outConScanPeriod": "0",
}


def settings(case: Case) -> Mapping[str, str]:
    """The options in force at both ends for `case`, by omniORB's names without `-ORB`.

    The message limit grows with the payload, since a payload above it would raise MARSHAL.
    """
    limit = max(DEFAULT_MESSAGE_LIMIT_BYTES, case.payload_bytes + MESSAGE_ROOM_BYTES)
    send_buffer = case.options.send_buffer_bytes
    return {
        **_FIXED,
        "maxGIOPConnectionPerServer": str(case.connections),
        # Each outstanding asynchronous call takes a thread of the client's pool.
        "maxClientThreadPoolSize": str(max(DEFAULT_POOL_THREADS, case.connections + SPARE_THREADS)),
        "giopMaxMsgSize": str(limit),
        "socketSendBuffer": str(-1 if send_buffer is None else send_buffer),
        **dict(case.options.orb),
    }


def arguments(chosen: Mapping[str, str]) -> list[str]:
    """Settings as words of a command line."""
    return [word for name, value in chosen.items() for word in (f"-ORB{name}", value)]


def start(case: Case, *, listen: str | None = None) -> Any:
    """An ORB of its own for one block; with `listen`, it accepts connections at that address.

    The caller destroys it, which closes its connections. Raises CORBA.INITIALIZE for an address
    that cannot be bound or an option that omniORB does not know.
    """
    from omniORB import CORBA

    words = arguments(settings(case))
    if listen is not None:
        host = f"[{listen}]" if ":" in listen else listen
        words += ["-ORBendPoint", f"giop:tcp:{host}:0", "-ORBendPointPublish", "addr"]
    return CORBA.ORB_init(["orbtax", *words], CORBA.ORB_ID)


def shut_out_strays() -> None:
    """Hides `ORB…` variables and the configuration file from an ORB started in this process."""
    for name in [name for name in os.environ if name.startswith("ORB")]:
        del os.environ[name]
    os.environ["OMNIORB_CONFIG"] = os.devnull
