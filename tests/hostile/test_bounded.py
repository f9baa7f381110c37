"""The bounds themselves: what breaks a rule is found out, and what keeps it is not."""

import os
import time

import pytest

from hostile.bounded import run_bounded
from interlingua.errors import InputError


def break_rule(rule: str) -> object:
    match rule:
        case "result":
            return 1
        case "input error":
            raise InputError("bad", remedy="Mend it.")
        case "traceback":
            raise KeyError("a")
        case "panic":
            raise KeyboardInterrupt
        case "memory":
            return bytes(2_000_000_000)
        case "exit":
            os._exit(3)
        case "slow":
            time.sleep(60)
    return None


@pytest.mark.parametrize("rule", ["traceback", "panic", "memory", "exit", "slow"])
def test_a_broken_rule_is_found_out(rule):
    outcomes = run_bounded(break_rule, [("a", "result"), ("b", rule), ("c", "input error")], seconds=1.5)
    assert [outcome.held for outcome in outcomes] == [True, False, True]


def test_a_check_can_refuse_a_result():
    outcomes = run_bounded(break_rule, [("a", "result")], check=lambda value, result: f"{value} {result}")
    assert outcomes[0].why == "result 1"
