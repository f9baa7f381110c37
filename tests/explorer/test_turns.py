from __future__ import annotations

import threading
import time

import pytest

from interlingua.explorer.model_queue import Busy, ModelQueue


def until(truth, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not truth() and time.monotonic() < end:
        time.sleep(0.002)
    assert truth()


def test_turns_are_taken_one_at_a_time_in_the_order_of_asking() -> None:
    turns, order, inside = ModelQueue(), [], []

    def ask(number: int) -> None:
        with turns.one():
            inside.append(number)
            assert len(inside) == 1
            order.append(number)
            inside.remove(number)

    threads = []
    with turns.one():
        for number in range(20):
            threads.append(threading.Thread(target=ask, args=(number,)))
            threads[-1].start()
            until(lambda: len(turns._queue) == len(threads))
    for thread in threads:
        thread.join(5)
    assert order == list(range(20))


def test_a_turn_that_fails_is_passed_on() -> None:
    turns = ModelQueue()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), turns.one():
            raise ZeroDivisionError
    with turns.one() as waited:
        assert waited < 1


def test_patience_ends_and_leaves_the_queue_as_it_was() -> None:
    turns = ModelQueue(patience=0.02)
    with turns.one():
        with pytest.raises(Busy, match="no turn within"), turns.one():
            raise AssertionError
        assert not turns._queue
    with turns.one():
        pass


def test_closing_sends_away_who_waits_and_lets_who_works_finish() -> None:
    turns, said, go = ModelQueue(), [], threading.Event()

    def work() -> None:
        with turns.one():
            go.wait(5)
            said.append("done")

    def wait() -> None:
        try:
            with turns.one():
                said.append("let in")
        except Busy as error:
            said.append(str(error))

    threads = [threading.Thread(target=work)]
    threads[0].start()
    until(lambda: turns._taken)
    threads += [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads[1:]:
        thread.start()
    until(lambda: len(turns._queue) == 3)
    assert not turns.close(seconds=0.01)
    until(lambda: len(said) == 3)
    go.set()
    assert turns.close(seconds=60)
    for thread in threads:
        thread.join(5)
    assert said == ["The server is stopping."] * 3 + ["done"]
    with pytest.raises(Busy, match="stopping"), turns.one():
        raise AssertionError
