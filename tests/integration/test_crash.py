"""kill -9 of the client in the middle of its writes: each call is there whole or not at all. `make soak` does it often."""

import random

from tests.integration.kills import check_whole, complete, run_for


def test_killed_clients_leave_only_whole_calls(db: str) -> None:
    source = random.Random(1)
    for _ in range(4):
        check_whole(db, run_for(db, source.uniform(0.05, 0.4)))
    complete(db)
