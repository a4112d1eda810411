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
import socket
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
        self.nothing_stored = status == 401


class Mistake(Exception):
    """The user typed something that cannot be done."""


class NoConnection(Exception):
    """No answer, or a failure that may pass. Nobody knows whether a write was stored, unless there was no connection at all."""

    def __init__(self, reason, wait=0):
        super().__init__(str(reason))
        self.wait = wait
        cause = getattr(reason, "reason", None)
        self.nothing_stored = isinstance(cause, (ConnectionRefusedError, socket.gaierror))


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


class Waits:
    """Random waits before new attempts, with a limit that doubles up to 30 seconds."""

    def __init__(self):
        self.failures = 0

    def next(self, at_least=0):
        limit = min(30, 0.5 * 2**self.failures)
        self.failures += 1
        return max(at_least, random.random() * limit)


class TodoList:
    def __init__(self, path):
        self.path = path
        self.token = None
        self.read_only = False
        self.items = {}  # ID in lower case: {"position", "etag", "item"}, as the service has them
        self.outbox = []  # the user's edits, oldest first
        if os.path.exists(path):
            with open(path) as file:
                self.__dict__.update(json.load(file))

    def save(self):
        # Write a new file and rename it. So the copy, the token and the outbox always belong together.
        state = {name: getattr(self, name) for name in ("token", "read_only", "items", "outbox")}
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
            self.outbox.append({"kind": "update", "id": item_id, "fields": fields, "seen": self.seen(item_id)})
        self.save()

    def remove(self, item_id):
        last = self.last_edit(item_id)
        if last and not last.get("sent"):
            self.outbox.remove(last)
            if last["kind"] == "update":
                self.outbox.append({"kind": "delete", "id": item_id, "seen": last["seen"]})
        else:
            self.outbox.append({"kind": "delete", "id": item_id, "seen": self.seen(item_id)})
        self.save()

    def last_edit(self, item_id):
        return next((edit for edit in reversed(self.outbox) if edit["id"] == item_id), None)

    def seen(self, item_id):
        """The item as it is shown, and its ETag. If an earlier edit must be stored first, there is no ETag yet."""
        if not self.last_edit(item_id):
            return self.items[item_id]
        return {"item": self.shown()[item_id], "etag": None}

    # ---- fetching

    def pull(self):
        since = "?since=" + urllib.parse.quote(self.token) if self.token else ""
        document, _ = send("GET", "/changes/delta" + since)
        if document["whole"]:
            self.items = {}
        for change in document["changes"]:
            self.apply(change)
        if self.token and self.token.split("-")[0] != document["epoch"]:
            print("The service has another history: its store was restored or replaced.")
        self.token = f"{document['epoch']}-{document['version']}"
        self.read_only = document["readOnly"]
        self.outbox = [edit for edit in self.outbox if not edit.get("stored")]  # the document has these
        self.save()

    def apply(self, change):
        if change["item"] is None:
            self.items.pop(change["id"], None)
        else:
            self.items[change["id"]] = {name: change[name] for name in ("position", "etag", "item")}
        # If the answer to a create was lost, this change shows that it was stored, and maybe deleted since.
        created = (change["id"], "create", True)
        self.outbox = [edit for edit in self.outbox if (edit["id"], edit["kind"], edit.get("sent")) != created]

    # ---- sending

    def push(self):
        held = set()  # items whose earlier edit was refused
        for edit in list(self.outbox):
            if self.read_only:
                break
            if "refused" in edit or edit["id"] in held:
                held.add(edit["id"])
            elif not edit.get("stored") and edit in self.outbox:
                try:
                    self.send_edit(edit)
                except Refused as error:
                    if error.status == 401:
                        raise
                    # It was certainly not stored, so the user may correct it.
                    edit["refused"], edit["sent"] = str(error), False
                    held.add(edit["id"])
                    print(f"Refused: {error}")
                finally:
                    self.save()
        if self.read_only and self.outbox:
            print("The service is read-only. Edits that wait:", len(self.outbox))

    def send_edit(self, edit):
        try:
            if edit["kind"] == "create":
                self.attempt(edit, "POST", "/api/todoitems/", edit["item"], None)
            else:
                self.write_over(edit, "/api/todoitems/" + edit["id"])
        except Refused as error:
            if error.code == "TodoItemIDInUse":
                edit["stored"] = True  # an earlier attempt was stored, and its answer was lost
            elif error.code == "RecordNotFound":
                if edit["kind"] == "update":
                    print(f"Somebody deleted {edit['id']}, so your edit was dropped.")
                self.outbox.remove(edit)
            else:
                raise

    def write_over(self, edit, path):
        """Sends an update or a deletion, and sends it again if somebody has changed the item meanwhile."""
        if edit["seen"]["etag"] is None and self.is_settled(edit, *send("GET", path), may_be_stored=False):
            return
        while True:
            item = None if edit["kind"] == "delete" else {**edit["seen"]["item"], **edit["fields"]}
            was_sent = edit.get("sent", False)
            try:
                return self.attempt(edit, "DELETE" if item is None else "PUT", path, item, edit["seen"]["etag"])
            except Refused as error:
                if error.code != "PreconditionFailed":
                    raise
                edit["sent"] = False  # no earlier attempt can be stored any more
                if self.is_settled(edit, error.current, error.etag, was_sent):
                    return

    def attempt(self, edit, method, path, item, if_match):
        was_sent = edit.get("sent", False)
        edit["sent"] = True
        self.save()
        try:
            _, etag = send(method, path, item, if_match)
        except (NoConnection, Refused) as error:
            if error.nothing_stored:
                edit["sent"] = was_sent
            raise
        if etag and etag.endswith('-not-kept"'):
            self.read_only, edit["sent"] = True, was_sent
        else:
            self.stored(edit, item, etag)

    def is_settled(self, edit, now, etag, may_be_stored):
        """The item is not what the user saw. Returns True if there is nothing to send any more."""
        seen = edit["seen"]["item"]
        if edit["kind"] == "delete":
            if now != seen or may_be_stored:
                print(f"Somebody changed {edit['id']}, so it was not deleted.")
                self.outbox.remove(edit)
                return True
        else:
            if {**now, **edit["fields"]} == now:
                self.stored(edit, now, etag)
                return True
            # Our rule: the user's fields win, and all other fields are theirs.
            for field, value in edit["fields"].items():
                if now.get(field) != value and (may_be_stored or now.get(field) != seen.get(field)):
                    print(f"{field} of {edit['id']} was {dump(now.get(field))}: overwritten.")
        edit["seen"] = {"item": now, "etag": etag}
        return False

    def stored(self, edit, item, etag):
        edit["stored"] = True
        later = self.outbox[self.outbox.index(edit) + 1 :]
        following = next((other for other in later if other["id"] == edit["id"]), None)
        if following and item is not None:
            self.is_settled(following, item, etag, may_be_stored=False)

    # ---- both

    def sync(self):
        self.pull()
        self.push()
        if any(edit.get("stored") for edit in self.outbox):
            self.pull()

    def send_edits(self, waits):
        """Sends the edits while a feed is open, or about to be. Returns when to try again, or None."""
        try:
            self.push()
        except NoConnection as error:
            print(f"Not sent yet: {error}", flush=True)
            return time.monotonic() + waits.next(error.wait)
        if any(edit.get("stored") for edit in self.outbox):
            self.pull()
        return None

    def follow(self):
        waits = Waits()
        while True:
            wait = 0
            try:
                self.pull()
                edit_waits = Waits()
                again = self.send_edits(edit_waits)
                print(f"{len(self.items)} items", flush=True)
                path = "/changes/events?since=" + urllib.parse.quote(self.token)
                # There is a heartbeat every 15 seconds. A minute of silence means that the connection is dead.
                with open_url("GET", path, timeout=60) as feed:
                    for event in events(feed):
                        waits.failures = 0
                        if not self.take(event):
                            break
                        # A feed does not send edits. Heartbeats are events, too, so this runs at least every 15 seconds.
                        # Pull first: the feed may not have told yet that an edit was stored, and undone by somebody.
                        if again and time.monotonic() >= again:
                            self.pull()
                            again = self.send_edits(edit_waits)
            except NoConnection as error:
                wait = error.wait
                print(f"No connection: {error}", flush=True)
            except (OSError, http.client.HTTPException) as error:
                print(f"The feed broke off: {error}", flush=True)
            time.sleep(waits.next(wait))

    def take(self, event):
        """Returns False if the feed is of no more use."""
        kind = event.get("event")
        if kind == "ready":
            self.read_only = parse(event["data"])["readOnly"]
        elif kind == "resync":
            self.token = None
            self.save()
            return False
        elif kind == "change":
            (epoch, version), (own_epoch, own_version) = event["id"].split("-"), self.token.split("-")
            if epoch != own_epoch:
                return False
            # After a pull, an event may be older than the copy.
            if int(version) > int(own_version):
                change = parse(event["data"])
                self.apply(change)
                self.token = event["id"]
                self.save()
                name = "deleted" if change["item"] is None else json.dumps(change["item"].get("Name"))
                print(f"{change['id'][:4]}: {name}", flush=True)
        return True


def events(feed):
    """Reads server-sent events. Each ends with an empty line. A heartbeat is an event without a name."""
    fields = {}
    for line in feed:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name != "":
            fields[name] = value
        else:
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
    except Mistake as error:
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
