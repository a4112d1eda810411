#!/usr/bin/env python3
"""A to-do list that works offline, made of Python's standard library (3.9 or newer). It follows docs/sync.md.

    offline.py FILE list               show the items; * marks edits that the service has not confirmed
    offline.py FILE add NAME           create an item
    offline.py FILE set ID FIELD JSON  change one field, as in: set "Buy milk" Done true
    offline.py FILE remove ID          delete an item
    offline.py FILE sync               send the edits, and fetch what others have changed
    offline.py FILE follow             the same, and then live until it is interrupted
    offline.py FILE                    read such commands, without FILE, line by line

FILE holds the copy of the items and the outbox. Only one command at a time may use it. For ID, the beginning of the ID
or the item's name is enough. TODOITEMS_SERVER is the address of the service, and TODOITEMS_CREDENTIALS is NAME:PASSWORD
if the service needs it.
"""

import base64
import http.client
import json
import os
import random
import re
import shlex
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

SERVER = os.environ.get("TODOITEMS_SERVER", "http://localhost:5000").rstrip("/")
CREDENTIALS = os.environ.get("TODOITEMS_CREDENTIALS")
MAY_PASS = (408, 429, 500, 502, 503, 504)

# Numbers such as 1.50 would lose digits as floats. They are kept as text after a private character.
DIGITS = "\ue000"


def parse(text):
    return json.loads(text, parse_float=lambda digits: DIGITS + digits)


def dump(value):
    return re.sub(r'"\\ue000([^"]*)"', r"\1", json.dumps(value))


class Refused(Exception):
    """The service refused a request. `code` is a stable word for programs, such as PreconditionFailed."""

    def __init__(self, status, headers, body):
        try:
            problem = parse(body)
        except ValueError:
            problem = {}  # not from the service itself, but from a proxy, for example
        super().__init__(f"{status} {problem.get('code', '')}: {problem.get('detail', '')}")
        self.status, self.code, self.current = status, problem.get("code"), problem.get("current")
        self.etag, self.wait = headers.get("ETag"), int(headers.get("Retry-After") or 0)


class Mistake(Exception):
    """The user typed something that cannot be done."""


class ReadOnly(Exception):
    """The service is read-only: it answers writes, but does not store them."""


class NoConnection(Exception):
    """No answer, or a failure that may pass. Nobody knows whether a write was stored."""

    def __init__(self, reason, wait=0):
        super().__init__(str(reason))
        self.wait = wait


def open_url(method, path, item=None, etag=None, timeout=30):
    request = urllib.request.Request(SERVER + path, method=method)
    if CREDENTIALS:
        request.add_header("Authorization", "Basic " + base64.b64encode(CREDENTIALS.encode()).decode())
    if item is not None:
        request.add_header("Content-Type", "application/json")
        request.data = dump(item).encode()
    if etag is not None:
        request.add_header("If-Match", etag)
    try:
        return urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        refused = Refused(error.code, error.headers, error.read())
        if error.code in MAY_PASS:
            raise NoConnection(refused, refused.wait) from None
        raise refused from None
    except (OSError, http.client.HTTPException) as error:
        raise NoConnection(error) from None


def send(method, path, item=None, etag=None):
    """Sends a request. Returns the JSON of the answer (None if it has no body) and the ETag."""
    with open_url(method, path, item, etag) as answer:
        try:
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise NoConnection(error) from None
        return (parse(body) if body else None), answer.headers.get("ETag")


class TodoList:
    def __init__(self, path):
        self.path = path
        self.token = None
        self.items = {}  # ID in lower case: {"position", "etag", "item"}, as the service has them
        self.outbox = []  # the user's edits, oldest first
        if os.path.exists(path):
            with open(path) as file:
                self.__dict__.update(json.load(file))

    def save(self):
        # Write a new file and rename it. So the copy, the token and the outbox always belong together.
        state = {"token": self.token, "items": self.items, "outbox": self.outbox}
        with open(self.path + ".new", "w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.path + ".new", self.path)

    # ---- what the user sees and does

    def shown(self):
        """The copy with the outbox on top: {ID: item}, in the order of the list."""
        ordered = sorted(self.items.items(), key=lambda entry: entry[1]["position"])
        shown = {item_id: entry["item"] for item_id, entry in ordered}
        for edit in self.outbox:
            if edit["kind"] == "delete":
                shown.pop(edit["id"], None)
            elif edit["kind"] == "create":
                shown[edit["id"]] = edit["item"]
            elif edit["id"] in shown:
                shown[edit["id"]] = {**shown[edit["id"]], **edit["fields"]}
        return shown

    def add(self, item):
        # An ID of our own makes it safe to send the create again if its answer is lost.
        item = {"ID": str(uuid.uuid4()), **item}
        self.outbox.append({"kind": "create", "id": item["ID"], "item": item})
        self.save()

    def change(self, item_id, fields):
        last = self.last_edit(item_id)
        if last and not last.get("sent"):
            last["item" if last["kind"] == "create" else "fields"].update(fields)
            last.pop("refused", None)
        else:
            self.outbox.append({"kind": "update", "id": item_id, "fields": fields, "seen": self.seen(last, item_id)})
        self.save()

    def remove(self, item_id):
        last = self.last_edit(item_id)
        if last and not last.get("sent"):
            self.outbox.remove(last)
            if last["kind"] == "update":
                self.outbox.append({"kind": "delete", "id": item_id, "seen": last["seen"]})
        else:
            self.outbox.append({"kind": "delete", "id": item_id, "seen": self.seen(last, item_id)})
        self.save()

    def last_edit(self, item_id):
        return next((edit for edit in reversed(self.outbox) if edit["id"] == item_id), None)

    def seen(self, last, item_id):
        """The item that the user edits, with its ETag. None if an earlier edit must be stored first: see `stored`."""
        return last.get("result") if last else self.items[item_id]

    # ---- fetching

    def pull(self):
        since = "?since=" + urllib.parse.quote(self.token) if self.token else ""
        document, _ = send("GET", "/changes/delta" + since)
        if document["whole"]:
            self.items = {}
        changed = set()
        for change in document["changes"]:
            self.apply(change)
            changed.add(change["id"])
        if self.token and self.token.split("-")[0] != document["epoch"]:
            print("The service has another history: its store was restored or replaced.")
        self.token = f"{document['epoch']}-{document['version']}"
        # Edits that are stored are in the document. So is a create whose answer was lost.
        self.outbox = [
            edit
            for edit in self.outbox
            if "result" not in edit and not (edit["kind"] == "create" and edit.get("sent") and edit["id"] in changed)
        ]
        self.save()

    def apply(self, change):
        if change["item"] is None:
            self.items.pop(change["id"], None)
        else:
            self.items[change["id"]] = {name: change[name] for name in ("position", "etag", "item")}

    # ---- sending

    def push(self):
        held = set()  # items whose earlier edit was refused
        for edit in list(self.outbox):
            if "refused" in edit or edit["id"] in held:
                held.add(edit["id"])
            elif "result" not in edit:
                try:
                    self.send_edit(edit)
                except Refused as error:
                    if error.status == 401:
                        raise
                    # It was certainly not stored, so the user may correct it.
                    edit["refused"], edit["sent"] = str(error), False
                    held.add(edit["id"])
                    print(f"Refused: {error}")
                self.save()

    def send_edit(self, edit):
        if edit["kind"] == "create":
            edit["sent"] = True
            self.save()
            try:
                _, etag = send("POST", "/api/todoitems/", edit["item"])
                self.stored(edit, edit["item"], etag)
            except Refused as error:
                if error.code != "TodoItemIDInUse":
                    raise
                self.stored(edit, edit["item"], None)  # the answer of an earlier attempt was lost
            return
        path = "/api/todoitems/" + edit["id"]
        try:
            self.write_over(edit, path)
        except Refused as error:
            if error.code != "RecordNotFound":
                raise
            if edit["kind"] == "update":
                print(f"Somebody deleted {edit['id']}, so your edit was dropped.")
            self.outbox.remove(edit)

    def write_over(self, edit, path):
        """Sends an update or a deletion. Sends an update again if somebody has changed the item meanwhile."""
        while True:
            if edit["seen"] is None or edit["seen"]["etag"] is None:
                item, etag = send("GET", path)
                edit["seen"] = {"item": item, "etag": etag}
            seen = edit["seen"]
            item = None if edit["kind"] == "delete" else {**seen["item"], **edit["fields"]}
            edit["sent"] = True
            self.save()
            try:
                _, etag = send("DELETE" if item is None else "PUT", path, item, seen["etag"])
                return self.stored(edit, item, etag)
            except Refused as error:
                if error.code != "PreconditionFailed":
                    raise
                if edit["kind"] == "delete":
                    print(f"Somebody changed {edit['id']}, so it was not deleted.")
                    return self.outbox.remove(edit)
                now = error.current
                if {**now, **edit["fields"]} == now:
                    return self.stored(edit, now, error.etag)  # the answer of an earlier attempt was lost
                # Our rule: the user's fields win, and all other fields are theirs.
                for field in edit["fields"]:
                    if now.get(field) != seen["item"].get(field):
                        print(f"{field} of {edit['id']} was {dump(now.get(field))}: overwritten.")
                edit["seen"] = {"item": now, "etag": error.etag}

    def stored(self, edit, item, etag):
        if etag and etag.endswith('-not-kept"'):
            raise ReadOnly(ReadOnly.__doc__)
        edit["result"] = {"item": item, "etag": etag}
        later = self.outbox[self.outbox.index(edit) + 1 :]
        following = next((other for other in later if other["id"] == edit["id"]), None)
        if following:
            following["seen"] = edit["result"]

    # ---- both

    def sync(self):
        self.pull()
        self.push()
        if any("result" in edit for edit in self.outbox):
            self.pull()

    def follow(self):
        failures = 0
        while True:
            wait = 0
            try:
                self.sync()
                print(f"{len(self.items)} items", flush=True)
                path = "/changes/events?since=" + urllib.parse.quote(self.token)
                # There is a heartbeat every 15 seconds. A minute of silence means that the connection is dead.
                with open_url("GET", path, timeout=60) as feed:
                    for event in events(feed):
                        failures = 0
                        if event["event"] == "resync":
                            self.token = None
                            self.save()
                            break
                        if event["event"] == "change":
                            self.take(event)
            except NoConnection as error:
                wait = error.wait
                print(f"No connection: {error}", flush=True)
            except (OSError, http.client.HTTPException) as error:
                print(f"The feed broke off: {error}", flush=True)
            time.sleep(max(wait, random.random() * min(30, 0.5 * 2**failures)))
            failures += 1

    def take(self, event):
        change = parse(event["data"])
        self.apply(change)
        self.token = event["id"]
        self.save()
        name = "deleted" if change["item"] is None else json.dumps(change["item"].get("Name"))
        print(f"{change['id'][:4]}: {name}", flush=True)


def events(feed):
    """Reads server-sent events. Each ends with an empty line. Lines that begin with a colon are heartbeats."""
    fields = {}
    for line in feed:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name != "":
            fields[name] = value
        else:
            if "event" in fields:
                yield fields
            fields = {}


def run(todo, command, *words):
    def whole_id(text):
        shown = todo.shown()
        found = [item_id for item_id in shown if item_id.startswith(text.lower()) or shown[item_id].get("Name") == text]
        if len(found) != 1:
            raise Mistake(f"{len(found)} items have the name {text}, or an ID that begins like that.")
        return found[0]

    if command == "list":
        unsent = {edit["id"] for edit in todo.outbox}
        for item_id, item in todo.shown().items():
            fields = {name: value for name, value in item.items() if name.lower() != "id"}
            print("*" if item_id in unsent else " ", item_id[:4], dump(fields))
    elif command == "add":
        todo.add({"Name": " ".join(words), "Done": False})
    elif command == "set" and len(words) == 3:
        todo.change(whole_id(words[0]), {words[1]: parse(words[2])})
    elif command == "remove" and len(words) == 1:
        todo.remove(whole_id(words[0]))
    elif command == "sync":
        todo.sync()
    elif command == "follow":
        todo.follow()
    else:
        raise Mistake(__doc__)


def explained(todo, words):
    """Runs a command. Returns what went wrong, or None."""
    try:
        run(todo, *words)
    except NoConnection as error:
        return f"No connection: {error}. Edits that wait: {len(todo.outbox)}"
    except Refused as error:
        return f"Refused: {error}"
    except (Mistake, ReadOnly) as error:
        return str(error)
    except ValueError as error:
        return f"This is not JSON: {error}"


def main(path, *words):
    todo = TodoList(path)
    if words:
        raise SystemExit(explained(todo, words))
    prompt = os.path.splitext(os.path.basename(path))[0] + "> "
    while True:
        print(prompt, end="", flush=True)
        line = sys.stdin.readline()
        if line == "":
            return
        if line.strip():
            problem = explained(todo, shlex.split(line))
            if problem:
                print(problem)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(0)
