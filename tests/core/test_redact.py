"""What is taken for a secret, and what is not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from agent_magic.core.redact import note_secrets, redact


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "MY_APIKEY",
        "KEY",
        "HF_TOKEN",
        "GITHUB_TOKEN",
        "client_secret",
        "DB_PASSWORD",
        "PASSWD",
        "GOOGLE_CREDENTIALS",
    ],
)
def test_redact_replaces_the_value_of_a_secret_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "correct horse")
    assert redact("it said: correct horse!") == "it said: [redacted]!"


@pytest.mark.parametrize("name", ["MONKEY", "TOKENIZERS_PARALLELISM", "KEYBOARD", "SECRETARY", "HOME_TOWN"])
def test_redact_leaves_the_value_of_another_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "correct horse")
    assert redact("it said: correct horse!") == "it said: correct horse!"


@pytest.mark.parametrize("value", ["", "1", "true", "short77"])
def test_redact_leaves_a_value_too_short_for_a_secret(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", value)
    text = "true: 1 short77"
    assert redact(text) == text


@pytest.mark.parametrize(
    "key",
    [
        "sk-abcdEFGH1234ijklMNOP",
        "sk-proj-abcdEFGH1234_ijkl-MNOP",
        "sk-ant-api03-abcdEFGH1234ijklMNOP",
        "gsk_abcdEFGH1234ijklMNOPqrst",
        "hf_abcdEFGH1234ijklMNOPqrst",
        "ghp_abcdEFGH1234ijklMNOPqrst",
        "github_pat_11ABCDEFG0abcdefghijkl",
        "xoxb-123456789012-abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA-1234567890abcdefghijklmnopqrst",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_redact_replaces_a_well_known_shape_of_key(key: str) -> None:
    assert (
        redact(f"Incorrect key provided: {key}, see there.")
        == "Incorrect key provided: [redacted], see there."
    )


@pytest.mark.parametrize(
    "data",
    [
        "3.14159265358979323846264338327950288419716939937510582097494459",
        "12345678901234567890123456789012345678901234567890",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "123e4567-e89b-12d3-a456-426614174000",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "risk-adjusted-return-on-capital",
        "the task-number-1234567890123456",
    ],
)
def test_redact_leaves_long_numbers_hashes_and_words_of_data(data: str) -> None:
    assert redact(data) == data


def test_redact_replaces_every_occurrence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "first-secret")
    monkeypatch.setenv("B_PASSWORD", "second-secret")
    assert redact("first-secret second-secret first-secret") == "[redacted] [redacted] [redacted]"


@pytest.mark.parametrize(
    "name", ["DB_PASSWORD", "DB_PASS", "PGPASS_PW", "SSH_PASSPHRASE", "SERVICE_AUTH", "DB_PWD", "PIN_CODE"]
)
def test_values_of_other_secret_names_are_redacted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "hunter2hunter2")
    assert redact("it is hunter2hunter2.") == "it is [redacted]."


def test_folder_of_the_shell_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PWD", "/data/ada")
    assert redact("in /data/ada") == "in /data/ada"


@pytest.mark.parametrize("write", [str, json.dumps, repr])
def test_secret_is_found_inside_json_and_repr(write: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("Q_TOKEN", "ab\"cd\\ef'gh\nij é")
    assert "cd" not in redact(
        f"all: {write({'q': os.environ['Q_TOKEN']}) if write is not str else os.environ['Q_TOKEN']}"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://bob:s3cretpw99@db/x", "postgres://[redacted]@db/x"),
        ("sk_live_abcdefghijklmnop1234", "[redacted]"),
        ("see https://example.org/a:b@c and a@b.c", "see https://example.org/a:b@c and a@b.c"),
    ],
)
def test_addresses_with_passwords_and_payment_keys(text: str, expected: str) -> None:
    assert redact(text) == expected


KEY = "sk-proj-abcdEFGH1234ijklMNOP"


@pytest.mark.parametrize("write", [json.dumps, repr, lambda text: repr(repr(text)), ascii])
@pytest.mark.parametrize("before", ["\n", "\t", "\r", "\f", "\x00", "\x1f", "\u2028", "\U000e0001"])
def test_key_after_an_escaped_sign_is_found(write: Callable[[str], str], before: str) -> None:
    assert KEY[:12] not in redact(write(f"the key is{before}{KEY}{before}and more"))


@pytest.mark.parametrize(
    "text",
    [
        "ask-the-manager-about-it-please",
        "\\task-the-manager-about-it-please",
        "newsk-abcdEFGH1234ijklMNOP",
        "\\ninsk-abcdEFGH1234ijklMNOP",
    ],
)
def test_words_that_hold_the_beginning_of_a_key_are_left(text: str) -> None:
    assert redact(text) == text


def test_variable_whose_name_says_that_it_is_a_secret_is_redacted_once_noted() -> None:
    note_secrets({"db_password": "tr0ub4dor", "my_token": "a1b2c3d4e5f6g7h8i9", "n": 3})
    assert redact("tr0ub4dor and a1b2c3d4e5f6g7h8i9") == "[redacted] and [redacted]"


@pytest.mark.parametrize(
    ("name", "value"), [("sort_key", "customer_segment"), ("token", "understanding"), ("PASSWORD", "short")]
)
def test_word_that_a_variable_with_such_a_name_holds_is_not_redacted(name: str, value: str) -> None:
    note_secrets({name: value})
    assert redact(f"by {value}") == f"by {value}"


def test_folder_that_a_task_runner_names_is_no_password(monkeypatch):
    monkeypatch.setenv("POE_PWD", "/opt/project")
    monkeypatch.setenv("DB_PWD", "hunter2hunter2")
    assert redact("in /opt/project by hunter2hunter2") == "in /opt/project by [redacted]"
