"""Hooks of schemathesis: makes requests that get further than generated ones, and writes down what each did."""

import itertools
import json
import os
import re
import threading
import time

import schemathesis

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{12}\b")
IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
OUTPUT = open(os.environ["PROOF_REQUESTS"], "a", buffering=1)
# Payments that can be captured, voided and refunded, and a card token: no generated id names one.
PAYMENTS = json.loads(os.environ.get("PROOF_PAYMENTS", "[]"))
VAULT_TOKEN = os.environ.get("PROOF_VAULT_TOKEN")
# The client whose token the requests carry: without it all of them are refused.
OWN_CLIENT = os.environ.get("PROOF_OWN_CLIENT")
CURRENT = threading.local()
COUNT = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    n = next(COUNT)
    if case.headers is not None:
        use_few_conditions(case.headers, n)
    if PAYMENTS and n % 3 == 0:
        use_payment(case.path_parameters or {}, PAYMENTS[n // 3 % len(PAYMENTS)])
    if VAULT_TOKEN and n % 2 == 0:
        use_token(case.body)
    body = without_empty_lists(case.body)
    # An assignment makes schemathesis check the case again, and a body that is absent is wrong to it then.
    if body is not case.body and body != case.body:
        case.body = body
    if OWN_CLIENT and str((case.path_parameters or {}).get("client_id")).lower() == OWN_CLIENT:
        case.path_parameters["client_id"] = "00000000-0000-7000-8000-000000000000"
    CURRENT.started = time.time()


def use_few_conditions(headers, n):
    """Nearly all generated keys were used before, and nearly all versions are old: few requests would get further."""
    if n % 10 == 0:
        return
    for name in list(headers):
        if name.lower() == "idempotency-key" and IDEMPOTENCY_KEY.fullmatch(str(headers[name])):
            headers[name] = f"{headers[name][:200]}-{n}"
        elif name.lower() in ("if-match", "if-none-match"):
            del headers[name]


def use_payment(parameters, payment):
    for name in ("order_id", "transaction_id"):
        if UUID.fullmatch(str(parameters.get(name, ""))):
            parameters[name] = payment[name]


def use_token(body):
    if not isinstance(body, dict) or not isinstance(body.get("transactions"), list):
        return
    for transaction in body["transactions"]:
        details = transaction.get("payment_method_details") if isinstance(transaction, dict) else None
        if isinstance(details, dict) and isinstance(details.get("vault_token"), str):
            details["vault_token"] = VAULT_TOKEN


# Objects of which an empty list is read as an empty object (rules 1.15), and null as no body (rules 1.10): for the
# document they are wrong.
OBJECTS = ("customer", "client", "extra", "payment_method_details")


def without_empty_lists(body):
    if body == [] or body is None:
        return [0]
    if not isinstance(body, dict):
        return body
    changed = {name: [0] if name in OBJECTS and value == [] else value for name, value in body.items()}
    transactions = body.get("transactions")
    if isinstance(transactions, list):
        changed["transactions"] = [without_empty_lists(one) if isinstance(one, dict) else one for one in transactions]
    return changed


@schemathesis.hook
def after_call(context, case, response):
    request = {
        "started": CURRENT.started,
        "ended": time.time(),
        "operation": case.operation.definition.raw.get("operationId"),
        "method": case.method,
        "status": response.status_code,
        "mode": case.meta.generation.mode.value if case.meta is not None else "positive",
        "request_id": (response.headers.get("x-request-id") or [""])[0],
        "ids": ids_in(response) if response.status_code < 300 and case.method != "GET" else [],
    }
    OUTPUT.write(json.dumps(request) + "\n")


def ids_in(response):
    """The objects that a change names: ids are uuids, and 12 hexadecimal digits those of API keys."""
    return sorted(set(UUID.findall(response.request.url + "\n" + response.text)))
