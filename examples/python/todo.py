#!/usr/bin/env python3
"""A client made of Python's standard library (3.9 or newer).

It lists, creates, updates and deletes an item, and follows changes as they happen. `offline.py` beside it also works
without a connection.
"""

import json
import os
import random
import threading
import time
import urllib.error
import urllib.request
import uuid

SERVER = os.environ.get("TODOITEMS_SERVER", "http://localhost:5000").rstrip("/")
LIST = SERVER + "/api/todoitems/"


class Refused(Exception):
    """The service refused a request. `code` is a stable word for programs, such as PreconditionFailed."""

    def __init__(self, status, problem):
        super().__init__(problem["detail"])
        self.status = status
        self.code = problem["code"]
        self.current = problem.get("current")  # only with status 412: the item as it is now


def send(method, url, item=None, etag=None, timeout=30):
    """Sends a request and returns the answer, which must be read or closed."""
    request = urllib.request.Request(url, method=method)
    # If the service needs credentials: request.add_header("Authorization", "Basic " + base64 of NAME:PASSWORD)
    if item is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(item, ensure_ascii=False).encode()
    if etag is not None:
        request.add_header("If-Match", etag)
    try:
        return urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        raise Refused(error.code, json.load(error)) from None


def events(answer):
    """Reads server-sent events. Each ends with an empty line. Lines that begin with a colon are heartbeats."""
    fields = {}
    for line in answer:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name != "":
            fields[name] = value
        else:
            if "event" in fields:
                yield fields
            fields = {}


def follow(on_ready):
    """Yields every change from now on. If the connection breaks, the feed continues with the first change missed.

    Yields None if the service no longer knows what was missed. Then fetch everything again, as `offline.py` does.
    """
    token, failures = None, 0
    while True:
        try:
            since = "" if token is None else "?since=" + token
            # There is a heartbeat every 15 seconds. A minute of silence means that the connection is dead.
            with send("GET", SERVER + "/changes/events" + since, timeout=60) as answer:
                for event in events(answer):
                    failures = 0
                    if event["event"] == "ready":
                        on_ready()
                    elif event["event"] == "change":
                        yield json.loads(event["data"])
                    elif event["event"] == "resync":
                        yield None
                    token = event.get("id", token)
        except OSError:
            pass  # no connection: try again below
        except Refused as error:
            if error.status < 500 and error.status != 429:
                raise
        # Wait longer after each failure. The time is random, so that clients do not all come back at once.
        time.sleep(random.random() * min(30, 0.5 * 2**failures))
        failures += 1


def main():
    # Make the ID yourself. Then a create whose answer was lost can safely be sent again: a duplicate gets 409.
    item = {"ID": str(uuid.uuid4()), "Name": "Buy milk", "Notes": "2 litres", "Done": False}
    url = LIST + item["ID"]

    seen, ready = [], threading.Event()

    def watch():
        for change in follow(ready.set):
            if change and change["id"] == item["ID"]:
                seen.append(change["item"])
                if change["item"] is None:
                    return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    ready.wait(30)

    with send("POST", LIST, item) as answer:
        first = answer.headers["ETag"]
        print("Create:", answer.status, first)

    with send("GET", LIST) as answer:
        print("List:", [entry["Name"] for entry in json.load(answer)])

    with send("PUT", url, {**item, "Done": True}, etag=first) as answer:
        second = answer.headers["ETag"]
        print("Update:", answer.status, second)

    try:
        send("PUT", url, {**item, "Name": "Buy oat milk"}, etag=first)
    except Refused as error:
        print("Update with an old ETag:", error.status, error.code, "the item is now", error.current)

    try:
        send("POST", LIST, {**item, "Name": "Buy bread"})
    except Refused as error:
        print("Create the same ID:", error.status, error.code)

    with send("DELETE", url, etag=second) as answer:
        print("Delete:", answer.status)

    watcher.join(30)
    print("The feed showed the item as:")
    for state in seen:
        print(" ", state)


if __name__ == "__main__":
    main()
