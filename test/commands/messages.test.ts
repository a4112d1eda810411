// What the commands say in a terminal: errors with suggestions, warnings, questions for passwords, and reports of
// success. Errors begin with a red "error:", and success is never red.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { asWord } from "../../src/terminal/program-name.ts";
import { Program, programCommand, programEnvironment } from "../program.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
  mkdirSync(commandLine.path("folder"));
  writeFileSync(commandLine.path("letter.txt"), "Dear Ann, this is not what you expected. ".repeat(5));
  writeFileSync(commandLine.path("items.csv"), "ID,Name\n,milk\n");
  writeFileSync(commandLine.path("bad-id.json"), '[{"ID":7,"Name":"seven"}]');
  const engine = await SqliteEngine.open(commandLine.path("sound.db"));
  await engine.close();
  const bytes = readFileSync(commandLine.path("sound.db"));
  writeFileSync(commandLine.path("damaged.db"), bytes.fill(0xff, 4096 * 3));
  writeFileSync(commandLine.path("empty.txt"), "\n");
  writeFileSync(commandLine.path("latin1.json"), Buffer.from('[{"Name":"ä"}]', "latin1"));
  writeFileSync(commandLine.path("backup.db.gz"), Bun.gzipSync("a backup"));
  // Even if there is a file with this name, - means standard input or output.
  writeFileSync(commandLine.path("-"), "");
  writeFileSync(commandLine.path("weak.txt"), "ann:{SHA}abc\n");
});
afterAll(() => commandLine.dispose());

const red = "\u001b[31m";
const plain = (output: string) => Bun.stripANSI(output);

/** Texts of the runtime, of HTTP and of the system that are not meant for people. */
const foreign =
  /ECONNREFUSED|ENOENT|EISDIR|ERR_|SQLITE_|\*\*\*|PEM_|Unable to connect|\bat .*\.ts|\b(?:PUT|POST|404|412)\b/;

const id = "11111111-1111-4111-8111-111111111111";
const xargs = process.platform === "linux" ? "xargs -r" : "xargs";
const https = "serve --port 0 --https-port 0 --tls-key letter.txt";

describe("errors", () => {
  for (const [line, exitCode, ...messages] of [
    ["lst", 2, "There is no command lst. Did you mean todoitems list?"],
    ["rm 1", 2, "Did you mean todoitems remove?"],
    ["LS", 2, "Did you mean todoitems list?"],
    ["users", 2, "Did you mean todoitems user?"],
    [
      "search milk",
      2,
      "There is no command search. To search, use: todoitems list --columns ID,Name,Notes | grep -i milk",
    ],
    ["find oat milk", 2, 'To search, use: todoitems list --columns ID,Name,Notes | grep -i "oat milk"'],
    ["grep", 2, "To search, use: todoitems list --columns ID,Name,Notes | grep -i TEXT"],
    ["find milk -s 9", 2, "use: todoitems list --columns ID,Name,Notes --server 9 | grep -i milk"],
    [
      "clear --server 9 -p work",
      2,
      `use: todoitems list --done --columns ID --server 9 --profile work | tail -n +2 | ${xargs} todoitems remove --server 9 --profile work`,
    ],
    [
      "list --search milk",
      2,
      "--search: there is no such flag; to search, use: todoitems list --columns ID,Name,Notes | grep -i milk",
    ],
    ["list --filter=milk", 2, "to search, use: todoitems list --columns ID,Name,Notes | grep -i milk"],
    ["list --query", 2, "to search, use: todoitems list --columns ID,Name,Notes | grep -i TEXT"],
    [
      "list -q milk",
      2,
      "-q: there is no such flag; to search, use: todoitems list --columns ID,Name,Notes | grep -i milk",
    ],
    ["list --limit 5", 2, "list shows all items; to see only the first ones, use: todoitems list | head"],
    [
      "list -n 5",
      2,
      "-n: there is no such flag; list shows all items; to see only the first ones, use: todoitems list | head",
    ],
    [
      "list --sort name",
      2,
      "items are listed in the order in which they were added; to sort them, use: todoitems list --columns Name,ID | tail -n +2 | sort",
    ],
    ["list localhost:9", 2, "localhost:9: unexpected argument.", "To choose the service, use --server localhost:9"],
    ["watch http://127.0.0.1:9", 2, "To choose the service, use --server http://127.0.0.1:9"],
    ["show 3f2a 127.0.0.1", 2, "This command takes one ID. To choose the service, use --server 127.0.0.1"],
    [
      "export http://127.0.0.1:9",
      2,
      "is an address, not a file. To choose the service, use --server http://127.0.0.1:9",
    ],
    ["list --server http:/127.0.0.1:9", 2, "--server http:/127.0.0.1:9: expected an address such as http://"],
    ["list --server https//127.0.0.1:9", 2, "--server https//127.0.0.1:9: expected an address such as http://"],
    ["list --username=", 2, "The user name is empty. Leave out --username, or give a name."],
    ["export --csv items.csv", 2, "--csv: there is no such flag; use --format csv"],
    ["import --file items.csv", 2, "--file: there is no such flag; give the file alone, as in import items.csv"],
    [
      "import --dry-run items.csv",
      2,
      "--dry-run: there is no such flag; import has no trial run.",
      "todoitems serve --store memory: --port 5001",
    ],
    [
      "remove --done",
      2,
      `to remove all items that are done, use: todoitems list --done --columns ID | tail -n +2 | ${xargs} todoitems remove`,
    ],
    ["remove --all", 2, "give the ID of each item; to remove all items that are done, use: todoitems list --done"],
    ["clear", 2, "There is no command clear. To remove all items that are done, use: todoitems list --done"],
    ["done zzzz,yyyy", 1, "No item has an ID that begins with zzzz,yyyy.", "Put blanks between IDs, not commas."],
    ["list --order-by Name", 2, "items are listed in the order in which they were added"],
    ["list --status open", 2, "--status: there is no such flag; use --open or --done"],
    [
      "import --replace items.csv",
      2,
      "--replace: there is no such flag; to replace stored items, use --on-conflict replace",
    ],
    ["import --force items.csv", 2, "to replace stored items, use --on-conflict replace"],
    ["import --overwrite items.csv", 2, "to replace stored items, use --on-conflict replace"],
    ["import --skip items.csv", 2, "to skip the items that are stored already, use --on-conflict skip"],
    ["import json", 2, "For the format, use --format json. A file needs an ending, such as items.json."],
    ["import csv items.csv", 2, "For the format, use --format csv."],
    ["export ndjson items.x", 2, "For the format, use --format ndjson."],
    ["backup -s 127.0.0.1:9", 2, "-s: there is no such flag; this command works on the store itself"],
    ["backup --url 127.0.0.1:9", 2, "--url: there is no such flag; this command works on the store itself"],
    ["restore -s 127.0.0.1:9 sound.db", 2, "To send items to a service, use the command import with --server"],
    [
      "stop",
      2,
      "There is no command stop. To stop the service, press Ctrl-C in its terminal, or use what started it, such as: systemctl stop todoitems",
    ],
    ["down", 2, "There is no command down. To stop the service, press Ctrl-C"],
    ["restart", 2, "To stop the service, press Ctrl-C in its terminal"],
    ["doctor json", 2, "json: unexpected argument. Did you mean --json?"],
    ["doctor port 5100", 2, "port: unexpected argument. Did you mean --port 5100?"],
    ["healthcheck port 9", 2, "port: unexpected argument. Did you mean --port 9?"],
    [
      "profiles",
      2,
      "There is no command profiles. Profiles are in the file ~/.config/todoitems/profiles.json. To use one: todoitems list --profile NAME",
    ],
    ["config", 2, "There is no command config. Profiles are in the file"],
    [
      "list milk",
      2,
      "This command takes no arguments. To search, use: todoitems list --columns ID,Name,Notes | grep -i milk",
    ],
    ["list open", 2, "This command takes no arguments. Did you mean --open?"],
    ["list DONE json", 2, "Did you mean --done --json?"],
    ["list columns Name", 2, "Did you mean --columns Name?"],
    ["list help", 2, "This command takes no arguments. Did you mean --help?"],
    ["add Milk --field :=1", 2, "--field :=1: expected NAME=TEXT or NAME:=JSON"],
    ["edit 1 --remove Price", 2, "to remove a field, open the item in your editor and delete the field there"],
    [
      "user add ann --users nosuch/users.txt",
      1,
      "nosuch/users.txt: the users file cannot be changed: there is no folder nosuch.",
    ],
    ["list open account", 2, 'To search, use: todoitems list --columns ID,Name,Notes | grep -i "open account"'],
    ["show 3f2a json", 2, "json: unexpected argument. This command takes one ID. Did you mean --json?"],
    ["watch json", 2, "Did you mean --json?"],
    ["edit 3f2a notes soon", 2, "This command takes one ID. Did you mean --notes soon?"],
    ["serve 8080", 2, "8080: unexpected. A setting is a flag, as in --port 8080"],
    ["export csv", 2, "For the format, use --format csv. A file needs an ending, such as items.csv."],
    [
      "login",
      2,
      "There is no command login. Give your name with each command, as in: todoitems list --username NAME",
      "or save it in a profile: ~/.config/todoitems/profiles.json",
    ],
    ["tick 1", 2, "Did you mean todoitems done?"],
    ["finish 1", 2, "Did you mean todoitems done?"],
    ["undone 1", 2, "Did you mean todoitems done --undo?"],
    ["uncheck 1", 2, "Did you mean todoitems done --undo?"],
    ["untick 1", 2, "Did you mean todoitems done --undo?"],
    ["reopen 1", 2, "Did you mean todoitems done --undo?"],
    ["destroy 1", 2, "Did you mean todoitems remove?"],
    ["user destroy ann --users x", 2, "Did you mean remove?"],
    [
      "check 3f2a",
      3,
      "3f2a: there is no such file.",
      "as in: todoitems check FILE. To mark an item as done, use: todoitems done 3f2a",
    ],
    ["complete 1", 2, "Did you mean todoitems done?"],
    ["toggle 1", 2, "There is no command toggle. Use todoitems done ID, or todoitems done ID --undo"],
    ["up", 2, "Did you mean todoitems serve?"],
    ["close 1", 2, "Did you mean todoitems done?"],
    ["rename 1 Milk", 2, "Did you mean todoitems edit?"],
    ["print", 2, "Did you mean todoitems list?"],
    ["useradd ann", 2, "Did you mean todoitems user add?"],
    ["dump", 2, "Did you mean todoitems export?"],
    ["status", 2, "Did you mean todoitems healthcheck?"],
    ["--port 80", 2, "A command comes first"],
    ["--vesion", 2, "Did you mean todoitems --version?"],
    ["--list", 2, "A command has no dashes. Did you mean todoitems list?"],
    ["recover sound.db", 2, "Did you mean todoitems restore?"],
    ["check nosuch.db", 3, "nosuch.db: there is no such file. Name a store or a backup, as in: todoitems check FILE"],
    [
      "serve --port 25101 --https-port 25101",
      2,
      "--port, --https-port and --metrics-port need a port of their own each",
    ],
    [
      "serve --port 0 --demo --seed items.csv",
      1,
      "items.csv: the seed is not a JSON array of items, such as [{…},{…}]:",
      "expected a JSON value at line 1, column 1",
    ],
    ["serve --port 0 --demo --seed backup.db.gz", 1, "the seed cannot be read: it is not UTF-8 text"],
    ["serve --port 0 --demo --seed latin1.json", 1, "the seed cannot be read: it is not UTF-8 text. Save it as UTF-8"],
    ["serve --port 0 --demo --seed nosuch.json", 1, "Name a file with a JSON array of items, or leave out --seed"],
    ["remove zzz", 1, "No item has an ID that begins with zzz. No item was removed."],
    ["list --jsn", 2, "--jsn: there is no such flag; did you mean --json?"],
    ["list --form c --jsn", 2, "--form c: expected one of a, b.", "did you mean --json?"],
    ["list --json=yes", 2, "--json: takes no value"],
    ["list --ca", 2, "--ca: needs a value, as in --ca FILE"],
    ["edit 1 --price 2", 2, "--price: there is no such flag; to set a field, use --field NAME=TEXT"],
    ["add -5", 2, "put -- before it"],
    ["add -5degrees", 2, "-5degrees: there is no such flag; if it is an argument, put -- before it"],
    ["add Milk -notes soon", 2, "-notes: there is no such flag; did you mean --notes?"],
    ["edit 3f2a -note=hello", 2, "-note: there is no such flag; did you mean --notes?"],
    ["edit 3f2a -nots hello", 2, "-nots: there is no such flag; did you mean --notes?"],
    ["add Milk -field Price=3", 2, "-field: there is no such flag; did you mean --field?"],
    ["add Milk -fieldPrice=3", 2, "-fieldPrice: there is no such flag; did you mean --field?"],
    ["add Milk -nsoon", 2, "-nsoon: put a blank between the flag and its value: -n soon"],
    ["add Milk -n=soon", 2, "-n=soon: put a blank between the flag and its value: -n soon"],
    ["list -server 9", 2, "-server: there is no such flag; did you mean --server?"],
    ["list -port 9", 2, "-port: there is no such flag; this command takes an address: --server http://127.0.0.1:9/"],
    ["list -json", 2, "-json: there is no such flag; did you mean --json?"],
    ["list -help", 2, "-help: there is no such flag; did you mean --help?"],
    ["serve -port 9", 2, "-port: there is no such flag; did you mean --port?"],
    ["healthcheck -port 9", 2, "-port: there is no such flag; did you mean --port?"],
    ["serve -x", 2, "-x: there is no such flag"],
    ["export -o x.csv", 2, "-o: there is no such flag; give the file alone, as in export x.csv"],
    ["backup --output x.db", 2, "--output: there is no such flag; give the file alone, as in backup x.db"],
    ["list --all", 2, "--all: there is no such flag; without it, list shows all items"],
    ["list -a", 2, "-a: there is no such flag; without it, list shows all items"],
    ["done 1 --undone", 2, "--undone: there is no such flag; did you mean --undo?"],
    ["remove 1 --force", 2, "--force: there is no such flag; leave it out: remove asks no question"],
    ["remove 1 -f", 2, "-f: there is no such flag; leave it out: remove asks no question"],
    ["remove -y 1", 2, "-y: there is no such flag; leave it out: remove asks no question"],
    ["edit 1 --done", 2, "--done: there is no such flag; to mark an item as done, use: todoitems done ID"],
    ["edit 1 --unset Due", 2, "to remove a field, open the item in your editor and delete the field there"],
    ["edit 1 --complete", 2, "to mark an item as done, use: todoitems done ID"],
    ["edit 1 --reopen", 2, "to mark an item as not done, use: todoitems done ID --undo"],
    ["add Milk --complete", 2, "to add an item that is done, use --field Done=yes"],
    ["edit 1 --undone", 2, "to mark an item as not done, use: todoitems done ID --undo"],
    ["add Milk --done", 2, "--done: there is no such flag; to add an item that is done, use --field Done=yes"],
    ["add Milk -t Milk", 2, "-t: there is no such flag; give the name alone, as in add Milk"],
    ["add --name Milk", 2, "--name: there is no such flag; give the name alone, as in add Milk"],
    ["add --important", 2, "use --field NAME=TEXT; if it is an argument, put -- before it"],
    ["restore", 2, "Missing argument: FILE."],
    ["serve --prot 1 --auth al", 2, "did you mean --port?", "expected one of off, writes, all"],
    ["list --server 127.0.0.1:9", 3, "Nothing answers at http://127.0.0.1:9/.", "todoitems serve"],
    ["show 11111111-1111-4111-8111-111111111111", 1, "No item has the ID 11111111-1111-4111-8111-111111111111."],
    ["remove", 2, "Missing argument: ID."],
    ["export nosuch/x.json", 1, "nosuch/x.json cannot be written: there is no folder nosuch."],
    ["import --format json .", 2, ". is a folder."],
    ["list --password-file empty.txt -u ann", 2, "empty.txt has no password. Its first line must be the password."],
    ["list --password-file nosuch -u ann", 2, "nosuch cannot be read: there is no such file or folder."],
    ["user list --users nosuch", 1, "there is no such file or folder"],
    ["user list --users nosuch", 1, "Set a password with: todoitems user add NAME --users nosuch"],
    ["user remove ann --users nosuch", 1, "there is no such file or folder"],
    ["user add ann --users folder", 1, "it is a folder, not a file"],
    [
      "user add",
      2,
      "Missing: NAME and --users FILE (or TODOITEMS_USERS), as in: todoitems user add ann --users users.txt",
    ],
    ["user add ann", 2, "Missing: --users FILE (or TODOITEMS_USERS), as in: todoitems user add ann --users users.txt"],
    ["user add --users x", 2, "Missing: NAME, as in: todoitems user add ann --users x"],
    ["user remove", 2, "Missing: NAME and --users FILE", "as in: todoitems user remove ann --users users.txt"],
    ["user list", 2, "Missing: --users FILE (or TODOITEMS_USERS), as in: todoitems user list --users users.txt"],
    ["user add ann bob --users x", 2, "add takes one name, as in: todoitems user add ann --users x"],
    ["user list ann --users x", 2, "list takes no name, as in: todoitems user list --users x"],
    ["user", 2, "Missing action: add, remove or list, as in: todoitems user add ann --users users.txt"],
    ["user lst --users x", 2, "Did you mean list?"],
    ["user ls --users x", 2, "Did you mean list?"],
    ["user delete ann --users x", 2, "Did you mean remove?"],
    ["user rm ann --users x", 2, "Did you mean remove?"],
    ["user del ann --users x", 2, "Did you mean remove?"],
    ["user create ann --users x", 2, "Did you mean add?"],
    ["user passwd ann --users x", 2, "To change a password, use add"],
    ["list --ca letter.txt --server https://127.0.0.1:9", 2, "letter.txt is not a PEM certificate."],
    ["list --ca letter.txt --server http://127.0.0.1:9", 2, "letter.txt is not a PEM certificate."],
    ["list --ca nosuch.pem --server http://127.0.0.1:9", 2, "nosuch.pem cannot be read: there is no such file"],
    ["list --server https://nosuch.invalid", 3, "No server called nosuch.invalid was found. Check the address."],
    ["list --server 127.0.0.1:9/x", 3, "Nothing answers at http://127.0.0.1:9/x/."],
    ["import bad-id.json", 1, 'The service refused item 1: The field "ID" is not a UUID', "the item gets a new ID."],
    ["backup nosuch/x.db --store sqlite:sound.db", 1, "nosuch/x.db cannot be written: there is no folder nosuch."],
    ["backup folder --store sqlite:sound.db", 1, "folder is a folder. Name a file in it, such as folder/backup.db"],
    ["backup folder --force --store sqlite:sound.db", 1, "folder is a folder. Name a file in it"],
    ["check folder", 3, "folder is a folder, not a file."],
    [
      "check letter.txt",
      3,
      "letter.txt: this is not a todoitems store, or its first bytes are damaged. Name a store or a backup.",
    ],
    [
      "restore items.csv",
      3,
      "items.csv: this is not a todoitems store, or its first bytes are damaged. Name a store or a backup. To add the items of an export, use: todoitems import items.csv",
    ],
    ["check sound.db --store sqlite:damaged.db", 2, "There are two stores, sound.db and the one of --store. Name one."],
    ["serve --port 0 --store memory: --seed bad-id.json", 1, "item 1: The field", "the item gets a new ID."],
    ["add Milk --field Price:=", 2, "--field Price:=: the value is missing. For a text, write = instead of :=."],
    ["list --csv", 2, "--csv: there is no such flag; use --json, or for a spreadsheet: todoitems export items.csv"],
    ["list --format csv -s 9", 2, "use --json, or for a spreadsheet: todoitems export items.csv --server 9"],
    ["list --format json", 2, "--format: there is no such flag; use --json"],
    [
      "done --all",
      2,
      `give the ID of each item; to mark all items as done, use: todoitems list --open --columns ID | tail -n +2 | ${xargs} todoitems done`,
    ],
    ["add -", 2, "add does not read standard input.", "To add many items from a file, use: todoitems import FILE"],
    [
      "export items.csv.gz --format csv",
      2,
      "items.csv.gz: export does not compress. Compress its output, as in: todoitems export --format csv | gzip > items.csv.gz",
    ],
    ["restore nosuch.db", 3, "nosuch.db: there is no such file. Name a backup, as in: todoitems restore FILE"],
    ["backup --store sqlite:nosuch.db", 3, "there is no such file. Name the store with --store sqlite:PATH"],
    ["serve --store sqlite:folder", 1, "folder: this is a folder, not a file"],
    ["serve --port 0 --store sqlite:nosuch/x.db", 1, "nosuch/x.db: its folder ", "nosuch does not exist"],
    [
      "serve --store sqlite:damaged.db",
      1,
      'damaged.db: the store is damaged: its pages do not fit together. See what is damaged with "todoitems check',
    ],
    ["serve --store sqlite:letter.txt", 1, "letter.txt: this is not a SQLite file. Choose another"],
    [
      `${https} --tls-cert nosuch.pem`,
      1,
      "nosuch.pem: the certificate cannot be read: there is no such file or folder",
    ],
    [`${https} --tls-cert letter.txt`, 1, "letter.txt: this is not a PEM file of a certificate, or it is damaged"],
    ["serve --port 0 --auth all --users nosuch", 1, "Set a password with: todoitems user add NAME --users nosuch"],
    ["serve --port 0 --auth all --users weak.txt", 1, "Set a password with: todoitems user add ann --users weak.txt"],
    ["serve --port 0 --host 192.0.2.77", 1, "192.0.2.77 is not an address of this machine. Choose one with --host"],
    ["help lst", 2, "Did you mean todoitems list?"],
    ["serve --port 99999 --auth al", 2, "--port 99999: expected a port", "--auth al: expected one of"],
    ["backup --server 127.0.0.1:9", 2, "--server: there is no such flag; this command works on the store itself"],
    ["list --store sqlite:sound.db", 2, "--store: there is no such flag; this command asks a service"],
    ["list --password secret", 2, "Set TODOITEMS_PASSWORD, or use --password-file FILE"],
    ["user add ann --password secret --users x", 2, "add asks for it, or reads it from standard input"],
    ["show Buy milk", 2, "milk: unexpected argument. This command takes one ID."],
    ["edit 3f2a Buy bread", 2, 'This command takes one ID. To change the item\'s name, use --name "Buy bread"'],
    ["edit 3f2a name=foo", 2, "This command takes one ID. To change the item's name, use --name foo"],
    ["edit 3f2a Title=Buy bread", 2, 'To change the item\'s name, use --name "Buy bread"'],
    ["edit 3f2a notes=call Ann", 2, 'To change the item\'s notes, use --notes "call Ann"'],
    ["edit 3f2a Price=3", 2, "This command takes one ID. To set a field, use --field Price=3"],
    ["edit 3f2a Price:=3", 2, "To set a field, use --field Price:=3"],
    [
      "edit 3f2a Price=3 Shop=at the corner",
      2,
      'use --field Price=3. To set a field, use --field "Shop=at the corner"',
    ],
    ["edit 3f2a Done=true", 2, "To mark the item as done, use: todoitems done 3f2a"],
    ["edit 3f2a completed:=false", 2, "To mark the item as not done, use: todoitems done 3f2a --undo"],
    ["edit 3f2a Price=3 --name=bread", 2, "To set a field, use --field Price=3"],
    ["edit 3f2a --name Buy soy milk", 2, 'This command takes one ID. Did you mean --name "Buy soy milk"?'],
    ["edit 3f2a --name=Buy soy milk", 2, 'Did you mean --name "Buy soy milk"?'],
    ["edit --name Buy soy milk 3f2a", 2, 'This command takes one ID. Did you mean --name "Buy soy milk"?'],
    ["edit 3f2a -n at noon -f Shop=at the corner", 2, 'Did you mean --notes "at noon" --field "Shop=at the corner"?'],
    ["edit 3f2a --name Buy soy milk --notes", 2, "--notes: needs a value"],
    ["edit 3f2a Buy --name soy milk", 2, "Buy: unexpected argument. This command takes one ID."],
    ["edit 3f2a --name bread Price=3", 2, "To set a field, use --field Price=3"],
    ["edit 3f2a 4b7e --notes x", 2, "edit changes one item. Run it once for each ID."],
    ["edit 3f2a abcd --notes x", 2, "edit changes one item. Run it once for each ID."],
    [
      "add milk --field due tomorrow",
      2,
      'It is not clear where "tomorrow" belongs. Did you mean --field due=tomorrow?',
    ],
    ["edit 3f2a --field Price 3", 2, "Did you mean --field Price=3?"],
    ["edit 3f2a --field Price := 3", 2, "Did you mean --field Price:=3?"],
    ["edit 3f2a --field Price = 3", 2, "Did you mean --field Price=3?"],
    ["add milk --field due= tomorrow morning", 2, 'Did you mean --field "due=tomorrow morning"?'],
    ["edit 3f2a --name New cafe", 2, 'Did you mean --name "New cafe"?'],
    ["edit 3f2a --name Top 1000", 2, 'Did you mean --name "Top 1000"?'],
    ["edit --notes x 3f2a 4b7e", 2, "edit changes one item. Run it once for each ID."],
    ["edit 3f2a 4b7e 11111111-1111-4111-8111-111111111111", 2, "edit changes one item."],
    ["edit 3f2a cafe", 2, "To change the item's name, use --name cafe"],
    [
      "add Buy milk --notes from the shop",
      2,
      'It is not clear where "the shop" belongs. Did you mean --notes "from the shop"?',
    ],
    ["add Milk -f Shop=at the corner", 2, 'Did you mean --field "Shop=at the corner"?'],
    ["list --columns ID Name", 2, "This command takes no arguments. Did you mean --columns ID,Name?"],
    ["list --columns ID, Name", 2, "Did you mean --columns ID,Name?"],
    ["edit 3f2a --name=", 2, "--name: the name is empty."],
    ["edit 3f2a bread --name=bread", 2, "bread: unexpected argument. This command takes one ID."],
    ["import", 2, "Missing argument: FILE. To read the items from standard input, use: todoitems import -"],
    ["import a.json b.json", 2, "This command takes one FILE. To import several files, run it once for each."],
    [
      "restore backup.db.gz --store sqlite:new.db",
      3,
      "this file is compressed. Unpack it first, for example with gunzip",
    ],
    [
      "check letter.txt",
      3,
      "letter.txt: this is not a todoitems store, or its first bytes are damaged. Name a store or a backup.",
    ],
    [
      "export letter.txt --format json",
      1,
      "letter.txt exists already. Choose another name, or replace it with --force.",
    ],
    ["export folder --format json --force", 1, "folder is not a file. Choose another name."],
    [
      "add Bread -f Price:=2.50 Shop=Aldi",
      2,
      "To set a field, use --field Shop=Aldi. If Shop=Aldi is part of the name, put the name in quotes.",
    ],
    ["add Bread -n -f Shop=Aldi", 2, "-n: needs a value, as in -n TEXT"],
    ["list -s -u ann", 2, "-s: needs a value, as in -s URL"],
    ["add Milk -f name=Bread", 2, "The field name is given twice. Leave out one of the two."],
    ["edit 3f2a --notes soon -f Notes=later", 2, "The field Notes is given twice."],
    ["list --port 9", 2, "this command takes an address: --server http://127.0.0.1:9/"],
    ["list --port=9", 2, "this command takes an address: --server http://127.0.0.1:9/"],
    ["list --port --json", 2, "this command takes an address: --server http://127.0.0.1:VALUE/"],
    ["list -p 9", 2, "For a port, use --server http://127.0.0.1:9/"],
    ["list -s 9", 3, "Nothing answers at http://127.0.0.1:9/. Start the service with todoitems serve --port 9, or"],
    ["list -s :9", 3, "Nothing answers at http://127.0.0.1:9/."],
    ["list -s 99999", 2, "--server 99999: the port 99999 does not exist. A port is at most 65535."],
    ["list -s http://localhost:99999/", 2, "A port is at most 65535."],
    ["healthcheck 99999", 2, "error: 99999: the port 99999 does not exist."],
    ["list --server=", 2, "error: --server: expected an address such as http://127.0.0.1:5000/."],
    ["list -s https://[::1]:9", 3, "Start the service with todoitems serve --https-port 9, or"],
    [
      "healthcheck --server localhost:9",
      2,
      "--server: there is no such flag; give the address alone, as in healthcheck localhost:9",
    ],
    ["healthcheck --port abc", 2, "--port abc: expected a port", "For help: todoitems help healthcheck"],
    ["healthcheck 5000 5001", 2, "5001: unexpected argument. This command takes one URL."],
    [
      "restore - --store sqlite:new.db",
      3,
      "A store or a backup must be a file, so it cannot come from standard input. Save it as a file first, and name that file.",
    ],
    ["check -", 3, "A store or a backup must be a file, so it cannot come from standard input."],
    ["add Buy -n x -n y", 2, "--notes: given twice, with different values. Leave out one of the two"],
    ["edit 3f2a --notes x -n y", 2, "--notes: given twice, with different values."],
    ["edit 3f2a --name x --name y --name z", 2, "--name: given 3 times, with different values."],
    [
      "serve --cors https://a.test --cors https://b.test",
      2,
      "--cors: given twice, with different values. Give it once, with commas between the values: --cors https://a.test,https://b.test",
    ],
    // Of any other flag, the last one counts.
    ["list -s localhost:8 -s localhost:9", 3, "Nothing answers at http://localhost:9/."],
    ["healthcheck --port 8 --port 9", 1, "http://127.0.0.1:9/: nothing answers there."],
    ["list --host todo.example", 2, "this command takes an address: --server http://todo.example:5000/"],
    ["healthcheck localhost:9", 1, "http://localhost:9/: nothing answers there. Check that the service is running;"],
    [
      "doctor -s 9",
      2,
      "--server: there is no such flag; doctor needs the flags that the service has, such as --port 9.",
    ],
    ["doctor --server https://todo.test/x", 2, "give the address alone, as in doctor https://todo.test/x"],
    ["doctor --server localhost:9", 2, "--server: there is no such flag; doctor needs"],
    ["import sound.db", 2, "sound.db is a store or a backup. To bring it back, use todoitems restore sound.db"],
    ["show 11111111-1111-4111-8111-11111111111x", 1, "No item has an ID that begins with 11111111-1111-4111-8111-1"],
    ["backup --store play.db", 2, "expected memory:, sqlite:PATH, such as sqlite:todoitems.db"],
    ["list --constructor", 2, "--constructor: there is no such flag"],
  ] as const)
    test(`todoitems ${line} says: ${messages[0]}`, async () => {
      const [command = "", ...args] = line.split(" ");
      const { exitCode: actual, output } = await commandLine.runInTerminal(command, args, {
        cwd: commandLine.path("."),
      });
      const text = plain(output);
      expect(text).toStartWith("error: ");
      expect(output).toStartWith(`${red}error:`);
      for (const row of text.split("\n")) expect(row.length).toBeLessThanOrEqual(60);
      for (const message of messages) expect(text.replace(/\s+/g, " ")).toContain(message);
      expect(text).not.toMatch(foreign);
      expect(actual).toBe(exitCode);
    });

  for (const line of [
    "backup /sys/b.db --store sqlite:sound.db",
    "restore sound.db --store sqlite:/sys/b.db",
    "export /sys/b.db --format json",
  ])
    test.skipIf(process.platform !== "linux")(`todoitems ${line} names the folder that cannot be written`, async () => {
      const [command = "", ...args] = line.split(" ");
      const { exitCode, output } = await commandLine.runInTerminal(command, args, { cwd: commandLine.path(".") });
      expect(plain(output).replace(/\s+/g, " ")).toMatch(
        /^error: \/sys\/b\.db cannot be written: (?:permission denied|the disk is read-only) in the folder \/sys\. $/,
      );
      expect(exitCode).toBe(1);
    });

  test("a server that uses HTTPS is told apart from one that does not", async () => {
    const { exitCode, stderr } = await commandLine.run("list", [
      "--server",
      commandLine.service.origin.replace("http:", "https:"),
    ]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 3,
      stderr: expect.stringContaining(`does not use HTTPS. Use ${commandLine.service.origin}/ instead`),
    });
  });

  test("an address that serves something else than to-do items is told", async () => {
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status: 404 }) });
    expect(await commandLine.run("list", ["--server", other.url.href])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is not that of a to-do service"),
    });
  });
});

/** Runs a command that a message shows, exactly as it is shown. No default server would answer it. */
function runShown(command: string) {
  mkdirSync(commandLine.path("bin"), { recursive: true });
  writeFileSync(commandLine.path("bin/todoitems"), `#!/bin/sh\nexec ${programCommand().map(asWord).join(" ")} "$@"\n`, {
    mode: 0o755,
  });
  const path = `${commandLine.path("bin")}:${process.env["PATH"]}`;
  return Bun.spawnSync(["sh", "-c", command], {
    env: programEnvironment({ PATH: path, TODOITEMS_SERVER: "127.0.0.1:9" }),
  });
}

describe("success", () => {
  test("success is never red", async () => {
    writeFileSync(commandLine.path("one.json"), '[{"Name":"from a file"}]');
    for (const [command, ...args] of [
      ["list"],
      ["add", "Buy milk"],
      ["import", commandLine.path("one.json")],
      ["export", commandLine.path("two.json")],
      ["help"],
      ["list"],
    ] as const) {
      const { exitCode, output } = await commandLine.runInTerminal(command, args);
      expect({ command, exitCode, isRed: output.includes(red) }).toEqual({ command, exitCode: 0, isRed: false });
    }
  });

  test("reports and the start-up text break between words, and their text stays beside the labels", async () => {
    const inFolder = { cwd: commandLine.path(".") };
    const outputs = [
      (await commandLine.runInTerminal("check", ["sound.db"], inFolder)).output,
      (await commandLine.runInTerminal("backup", ["new.db", "--store", "sqlite:sound.db"], inFolder)).output,
    ];
    for (const output of outputs)
      for (const line of output.split("\n"))
        if (!/^(?:Hash|[0-9a-f]{64})/.test(line)) expect(line.length).toBeLessThanOrEqual(60);
    const { output } = await commandLine.runInTerminal("certificate", [], inFolder);
    expect(output).toContain("The debug builds of the tutorial's apps accept its\n");
  });

  test("a password that is typed at a prompt is never shown", async () => {
    const { exitCode, output } = await commandLine.runInTerminal("user", ["add", "ann", "--users", "users"], {
      cwd: commandLine.path("."),
      answers: [
        ["Password for ann: ", "hidden words\n"],
        ["Repeat the password: ", "hidden words\n"],
      ],
    });
    expect({ exitCode, output }).toEqual({
      exitCode: 0,
      output: "Password for ann: \nRepeat the password: \nAdded user ann to users\n",
    });
  });

  test("an empty password is refused before it must be repeated", async () => {
    const { exitCode, output } = await commandLine.runInTerminal("user", ["add", "ann", "--users", "refused"], {
      cwd: commandLine.path("."),
      answers: [["Password for ann: ", "\n"]],
    });
    expect({ exitCode, output: plain(output) }).toEqual({
      exitCode: 1,
      output: "Password for ann: \nerror: The password is empty. Nothing was changed.\n",
    });
  });

  test("a password may be typed twice before the second question appears, and is not shown then", async () => {
    const { exitCode, output } = await commandLine.runInTerminal("user", ["add", "bob", "--users", "users"], {
      cwd: commandLine.path("."),
      answers: [["Password for bob: ", "hidden worda\u007fs\nhidden words\n"]],
    });
    expect({ exitCode, output }).toEqual({
      exitCode: 0,
      output: "Password for bob: \nRepeat the password: \nAdded user bob to users\n",
    });
  });

  for (const [key, typed] of [
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ] as const) {
    test(`${key} at the question for a password cancels the command`, async () => {
      for (const [command, ...args] of [
        ["list", "-u", "ann"],
        ["user", "add", "ann", "--users", "cancelled"],
      ] as const) {
        const { exitCode, output } = await commandLine.runInTerminal(command, args, {
          cwd: commandLine.path("."),
          answers: [["Password for ann: ", typed]],
        });
        expect({ exitCode, output: plain(output) }).toEqual({
          exitCode: 1,
          output: "Password for ann: \nerror: Cancelled. Nothing was changed.\n",
        });
      }
      expect(existsSync(commandLine.path("cancelled"))).toBeFalse();
    });

    test(`${key} at the repeated question for a password cancels the command`, async () => {
      const { exitCode, output } = await commandLine.runInTerminal("user", ["add", "ann", "--users", "cancelled"], {
        cwd: commandLine.path("."),
        answers: [
          ["Password for ann: ", "hidden words\n"],
          ["Repeat the password: ", typed],
        ],
      });
      expect([exitCode, plain(output)]).toEqual([
        1,
        expect.stringContaining("\nerror: Cancelled. Nothing was changed."),
      ]);
      expect(existsSync(commandLine.path("cancelled"))).toBeFalse();
    });
  }

  test("watch says that a connection was lost, without advice about the address", async () => {
    const service = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
    const { output } = await commandLine.runInTerminal("watch", ["--server", service.origin], {
      columns: 200,
      answers: [
        ["Connected.", () => service.stop("SIGKILL")],
        ["Trying again", "\u0003"],
      ],
    });
    expect(output).toContain(`warning: The connection to ${service.origin}/ was lost. Trying again`);
  });

  test("watch says once why it cannot connect, and then only when it tries again", async () => {
    const { exitCode, output } = await commandLine.runInTerminal("watch", ["--server", "127.0.0.1:9"], {
      answers: [["\nTrying again in", "\u0003"]],
    });
    expect({ exitCode, reasons: output.split("Nothing answers").length - 1 }).toEqual({ exitCode: 0, reasons: 1 });
  });

  test("watch names the fields that changed, unless the line shows them already", async () => {
    await commandLine.clear();
    await commandLine.store(`{"ID":"${id}","Name":"milk","Done":false}`);
    const { output } = await commandLine.runInTerminal("watch", [], {
      answers: [
        ["1 item on the list", () => commandLine.run("edit", ["1111", "-n", "soon", "-f", "Price:=1"])],
        [" 11111111  milk (Notes, Price)\r\n", () => commandLine.run("done", ["1111"])],
        [" 11111111  ✓ milk\r\n", () => commandLine.run("done", ["1111", "--undo"])],
        [" 11111111  milk (not done)\r\n", "\u0003"],
      ],
    });
    expect(plain(output)).toContain("~ 11111111  milk (not done)\n");
  });

  test("remove and done name the item, and done uses the field that the item has", async () => {
    await commandLine.clear();
    await commandLine.store('{"id":"11111111-1111-4111-8111-111111111111","title":"Call Bob","completed":false}');
    expect((await commandLine.run("done", ["1111"])).stdout).toBe("Done: Call Bob (11111111)\n");
    expect(await commandLine.service.list()).toContain('"completed":true');
    expect((await commandLine.run("remove", ["1111"])).stdout).toBe("Removed: Call Bob (11111111)\n");
  });

  test("a word for yes or no marks an item as done, in every field that is such a mark", async () => {
    await commandLine.clear();
    expect(await commandLine.run("add", ["Milk", "-f", "Done=yes", "-f", "completed=false"])).toMatchObject({
      exitCode: 0,
    });
    expect(await commandLine.service.list()).toContain('"Done":true,"completed":false');
    await commandLine.clear();
    await commandLine.store(`{"ID":"${id}","isDone":false}`);
    await commandLine.run("edit", ["1111", "-f", "isdone=True"]);
    expect(await commandLine.service.list()).toContain('"isDone":true');
  });

  test("show keeps the quotes of a text that would look like another value", async () => {
    await commandLine.clear();
    await commandLine.store(`{"ID":"${id}","a":"true","b":true,"c":"12","d":"milk"}`);
    expect((await commandLine.run("show", ["1111"])).stdout).toBe(
      `ID  ${id}\na   "true"\nb   true\nc   "12"\nd   milk\n`,
    );
  });

  test("a text that looks like a mistyped := is stored, with a warning", async () => {
    expect(await commandLine.run("add", ["Milk", "-f", "Price=:3"])).toMatchObject({
      exitCode: 0,
      stderr: "warning: Price is set to the text :3. For a JSON value, use Price:=3\n",
    });
  });

  test("a text in the field that marks what is done is stored, with a warning", async () => {
    expect(await commandLine.run("add", ["Milk", "-f", "Done=maybe"])).toMatchObject({
      exitCode: 0,
      stderr: "warning: Done is set to a text, which does not mark the item as done. For that, use Done:=true\n",
    });
  });

  test("add stores a second name or a second mark for done, with a warning", async () => {
    await commandLine.clear();
    expect(await commandLine.run("add", ["Milk", "-f", "title=x"])).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining("Added: Milk"),
      stderr:
        "warning: This item has two names, in the fields Name and title. Apps read only the one that they know; these commands read Name.\n",
    });
    expect((await commandLine.run("add", ["-f", "text=a", "-f", "title=b"])).stderr).toBe(
      "warning: This item has two names, in the fields text and title. Apps read only the one that they know; these commands read title.\n",
    );
    expect((await commandLine.run("add", ["Milk", "-f", "completed=no", "-f", "isDone=yes"])).stderr).toBe(
      "warning: This item has two marks for done, in the fields completed and isDone. Apps read only the one that they know; these commands read completed.\n",
    );
    expect((await commandLine.run("add", ["Milk", "-f", "completed=no"])).stderr).toBe("");
  });

  test("add warns if a word of the name looks like a field, but not for an address", async () => {
    await commandLine.clear();
    const { stdout, stderr } = await commandLine.run("add", ["Rye", "bread", "Price:=3", "Shop=Aldi"]);
    const [, id = ""] = /^Added: Rye bread Price:=3 Shop=Aldi \((.+)\)\n$/.exec(stdout) ?? [];
    expect(stderr.replaceAll("\n", " ")).toBe(
      `warning: Price:=3 Shop=Aldi is part of the name. To make it a field: todoitems edit ${id} --name "Rye bread" --field Price:=3 --field Shop=Aldi `,
    );
    for (const words of [["Read", "https://example.com/?a=b"], ["x=3"], ["Solve x=3", "today"]])
      expect(await commandLine.run("add", words)).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("the command that add shows makes the field, whatever characters the name and the value contain", async () => {
    await commandLine.clear();
    const name = ['Say "hi"', "to", "$HOME", "it's", "`ls`"];
    const value = 'it\'s $5 & "more"; a\\b';
    const { stderr } = await commandLine.run("add", [...name, `Notes=${value}`, "-s", commandLine.service.origin]);
    const [, command = ""] = /To make it a field: (.*)/s.exec(stderr) ?? [];
    const { exitCode, stderr: problem } = runShown(command.trim());
    expect([exitCode, problem.toString()]).toEqual([0, ""]);
    expect(JSON.parse(await commandLine.service.list())).toMatchObject([{ Name: name.join(" "), Notes: value }]);
  });

  test("a flag may be given twice with the same value, and --field and --columns with different ones", async () => {
    await commandLine.clear();
    const args = ["Milk", "-n", "x", "--notes", "x", "-f", "Price:=1", "-f", "Shop=a", "--json", "--json"];
    expect(await commandLine.run("add", args)).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await commandLine.run("list", ["--columns", "Price", "--columns", "Shop"])).stdout).toBe(
      "Price  Shop\n1      a\n",
    );
  });

  test("a misspelt environment variable is named once on standard error, and the command goes on", async () => {
    await commandLine.clear();
    const misspelt = { TODOITEMS_SEVER: "x", TODOITEMS_STROE: "y" };
    const warnings = [
      "warning: TODOITEMS_SEVER is not a setting and is ignored. Did you mean TODOITEMS_SERVER?\n",
      "warning: TODOITEMS_STROE is not a setting and is ignored. Did you mean TODOITEMS_STORE?\n",
    ].join("");
    expect(await commandLine.run("add", ["Milk"], misspelt)).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining("Added: Milk"),
      stderr: warnings,
    });
    const store = ["--store", `sqlite:${commandLine.path("sound.db")}`];
    for (const [command, args] of [
      ["list", []],
      ["check", store],
      ["backup", [commandLine.path("copy.db"), ...store]],
      ["user", ["list", "--users", commandLine.path("none")]],
    ] as const)
      expect((await commandLine.run(command, args, misspelt)).stderr).toStartWith(warnings);
    expect((await commandLine.run("list", [], { TODOITEMS_FOO: "1" })).stderr).toBe(
      "warning: TODOITEMS_FOO is not a setting and is ignored. todoitems help serve lists the settings.\n",
    );
  });

  test("the hint for an empty list repeats the flags that name the service", async () => {
    await commandLine.clear();
    const { origin } = commandLine.service;
    expect((await commandLine.run("list", ["-s", origin])).stderr).toBe(
      `There are no items yet. Add one with: todoitems add NAME --server ${origin}\n`,
    );
  });

  test("the command that remove shows for done items removes them, from the service that was named", async () => {
    await commandLine.clear();
    const item = (digit: string, done: boolean) => `{"ID":"${id.replaceAll("1", digit)}","Name":"milk","Done":${done}}`;
    await commandLine.store(item("1", true), item("2", false), item("3", true));
    const { stderr } = await commandLine.run("remove", ["--done", "--server", commandLine.service.origin]);
    const [, command = ""] = /use: (.*)/.exec(stderr) ?? [];
    const removed = runShown(command);
    expect([removed.stdout.toString(), removed.stderr.toString()]).toEqual([
      "Removed: milk (11111111)\nRemoved: milk (33333333)\n",
      "",
    ]);
    // No item is done any more.
    expect(runShown(command)).toMatchObject({ exitCode: 0 });
  });

  test("if the service does not answer, a command says that it is waiting", async () => {
    using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const address = `http://127.0.0.1:${silent.port}/`;
    const waiting = `Still waiting for ${address} to answer. To stop, press Ctrl-C.`;
    const { output } = await commandLine.runInTerminal("list", ["--server", address], {
      columns: 100,
      answers: [[waiting, "\u0003"]],
    });
    expect(output).toContain(waiting);
  });

  test("the advice for a flag of other programs repeats the flags that name the service, wherever they are", async () => {
    const flags = ["--form", "a", "--server", "127.0.0.1:9"];
    for (const args of [
      [...flags, "--search", "milk"],
      ["--search=milk", ...flags],
      ["milk", ...flags],
    ])
      expect((await commandLine.run("list", args)).stderr).toContain(
        "use: todoitems list --columns ID,Name,Notes --server 127.0.0.1:9 --form a | grep -i milk",
      );
  });

  test("remove takes an ID that is given twice as one", async () => {
    await commandLine.clear();
    await commandLine.store('{"ID":"1111111a-1111-4111-8111-111111111111","Name":"milk"}');
    expect(await commandLine.run("remove", ["1111", "1111111A-1111-4111-8111-111111111111"])).toEqual({
      exitCode: 0,
      stdout: "Removed: milk (1111111a)\n",
      stderr: "",
    });
  });

  test("add with an ID that is taken says what to do, in words for people", async () => {
    await commandLine.clear();
    const id = "11111111-1111-4111-8111-111111111111";
    await commandLine.store(`{"ID":"${id}","Name":"milk"}`);
    expect(await commandLine.run("add", ["bread", "--field", `ID=${id}`])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "error: An item with this ID exists already. Choose another ID, or change that item with todoitems edit ID\n",
    });
  });

  test("add refuses a blank name and stores nothing", async () => {
    await commandLine.clear();
    for (const args of [["  "], [""], ["", "-f", "Price:=1"]])
      expect(await commandLine.run("add", args)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("error: The item needs a name"),
      });
    expect(await commandLine.service.list()).toBe("[]");
  });
});
