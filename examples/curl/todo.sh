#!/bin/sh
# Lists, creates, updates and deletes an item with curl, and prints each answer: its status, its ETag and its body.
# If the service needs credentials, add `-u NAME:PASSWORD` to the curl command below.
set -eu

server=${TODOITEMS_SERVER:-http://localhost:5000}
list=${server%/}/api/todoitems/
# Make the ID yourself. Then a create whose answer was lost can safely be sent again: a duplicate gets 409.
id=$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT

# send TITLE METHOD URL [more arguments for curl]
send() {
  title=$1 method=$2 url=$3
  shift 3
  body=$(curl -sS -X "$method" -D "$headers" -H "Content-Type: application/json" "$@" "$url")
  status=$(sed -n '1s/^[^ ]* \([0-9]*\).*/\1/p' "$headers")
  etag=$(sed -n 's/^[Ee][Tt][Aa][Gg]: \([^[:cntrl:]]*\).*/\1/p' "$headers")
  printf '%s: %s %s\n' "$title" "$status" "$etag"
  if [ -n "$body" ]; then printf '  %s\n' "$body"; fi
}

send "Create" POST "$list" -d "{\"ID\":\"$id\",\"Name\":\"Buy milk\",\"Notes\":\"2 litres\",\"Done\":false}"
first=$etag

send "List" GET "$list"

# PUT replaces the whole item. With If-Match it does so only if nobody has changed the item since we saw it.
send "Update" PUT "$list$id" -H "If-Match: $first" \
  -d "{\"ID\":\"$id\",\"Name\":\"Buy milk\",\"Notes\":\"2 litres\",\"Done\":true}"
second=$etag

# The first ETag is old now. Each refusal has a `code` for programs and a `detail` for people.
send "Update with an old ETag" PUT "$list$id" -H "If-Match: $first" -d "{\"ID\":\"$id\",\"Name\":\"Buy oat milk\"}"

send "Create the same ID" POST "$list" -d "{\"ID\":\"$id\",\"Name\":\"Buy bread\"}"

send "Delete" DELETE "$list$id" -H "If-Match: $second"

# To follow changes as they happen: curl -N "$server/changes/events"
