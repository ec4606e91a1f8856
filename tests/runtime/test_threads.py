"""The switch interval of a worker's process: shorter while it runs, as before afterwards."""

import sys

from runtime.threads import quick_threads


def test_the_interval_is_shorter_and_comes_back() -> None:
    before = sys.getswitchinterval()
    with quick_threads():
        assert sys.getswitchinterval() <= 0.0011
        with quick_threads():
            assert sys.getswitchinterval() <= 0.0011
    assert sys.getswitchinterval() == before
