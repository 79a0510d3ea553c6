"""What holds for all tests."""

import signal

# Started in the background of a shell, the tests and all that they start would ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
