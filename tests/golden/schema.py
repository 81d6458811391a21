#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema.py FILE... - checks JSON files of jvmscope against the schema that they name.

Of recordings also what a schema cannot say: indexes are inside their tables, counts add up. The
last line is
"N passed, N failed, N skipped"; without python3-jsonschema the schema itself is skipped.
"""
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
RECORDING = "jvmscope/1"
SCHEMAS = {RECORDING: "json-schema.json", "jvmscope-ps/1": "ps-schema.json"}


def indexes(doc):
    """Every reference of doc as (where, index or None, size of its table)."""
    sizes = {key: len(doc[key]) for key in ("strings", "frames", "stacks", "threads", "jvms")}
    for number, row in enumerate(doc["frames"]):
        for column in (1, 4, 5, 6, 7):
            yield f"frames[{number}][{column}]", row[column], sizes["strings"]
        yield f"frames[{number}][10]", row[10], len(doc["filter"]["rules"])
    for number, stack in enumerate(doc["stacks"]):
        for frame in stack:
            yield f"stacks[{number}]", frame, sizes["frames"]
    for profile in doc["profiles"]:
        where = f"profile {profile['metric']}"
        yield where, profile["jvm"], sizes["jvms"]
        for row in profile["samples"]:
            for index, table in zip(row, ("stacks", "threads", "strings")):
                yield where, index, sizes[table]
    for number, thread in enumerate(doc["threads"]):
        yield f"threads[{number}]", thread["jvm"], sizes["jvms"]
    sizes["rules"] = len(doc["filter"]["rules"])
    sizes["loaders"] = len(doc.get("classes", {}).get("loaders", []))
    tables = {"jvm": "jvms", "stack": "stacks", "thread": "threads", "loader_id": "loaders"}
    for section in ("native", "classes", "budget"):
        for key, rows in doc.get(section, {}).items():
            for row in rows if isinstance(rows, list) else []:
                for name, table in tables.items():
                    yield f"{section}.{key}.{name}", row.get(name), sizes[table]
                if key in ("events", "redefinitions"):
                    yield f"{section}.{key}.rule", row.get("rule"), sizes["rules"]


def sums(doc):
    """Every equation that must hold, as (text, left, right)."""
    quality = doc["quality"]
    by_thread = [0] * len(doc["threads"])
    samples = 0
    for profile in doc["profiles"]:
        if profile["metric"] != "cpu":
            continue
        for _, thread, _, count, _ in profile["samples"]:
            samples += count
            if thread is not None:
                by_thread[thread] += count
    yield "one state for each stack", len(doc["stacks"]), len(doc["stack_states"])
    split = doc["filter"]["samples"]
    yield "samples of quality and profiles", quality["samples"], samples + split["dropped"]
    if doc["filter"]["mode"] != "off":
        yield ("samples by code", quality["samples"],
               split["application"] + split["library"] + split["no_java"])
    numbers = [rule["number"] for rule in doc["filter"]["rules"]]
    yield ("numbers of rules", [row[9] for row in doc["frames"]],
           [None if row[10] is None else numbers[row[10]] for row in doc["frames"]])
    yield "truncated_by", quality["truncated"], sum(quality["truncated_by"].values())
    yield "broken_by", quality["broken"], sum(quality["broken_by"].values())
    yield ("samples by state", quality["samples"],
           quality["complete"] + quality["truncated"] + quality["broken"])
    yield ("seen = samples + lost", quality["seen"],
           quality["samples"] + sum(quality["lost"].values()))
    for reading in doc.get("native", {}).get("ledger_readings", []):
        key = "bytes" if reading["at"] == "end" else "start_bytes"
        yield ("lines of the ledger", reading["rss_bytes"],
               sum(row[key] for row in doc["native"]["ledger"] if row["jvm"] == reading["jvm"]))
    yield "samples of threads", [thread["samples"] for thread in doc["threads"]], by_thread


def problems(path, schemas):
    with open(path, "rb") as file:
        doc = json.loads(file.read().decode("utf-8", "strict"))
    if doc.get("schema") not in schemas:
        return [f"no schema is called {doc.get('schema')}"]
    if jsonschema:
        validator = jsonschema.Draft202012Validator(schemas[doc["schema"]])
        found = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(doc)]
        if found:
            return found
    if doc["schema"] != RECORDING:
        return []
    found = [f"{where}: {index} is outside of {size}" for where, index, size in indexes(doc)
             if index is not None and not 0 <= index < size]
    return found + [f"{text}: {left} and {right}" for text, left, right in sums(doc)
                    if left != right]


def main(paths):
    failed = 0
    schemas = {}
    for name, file_name in SCHEMAS.items():
        with open(os.path.join(DOCS, file_name), encoding="utf-8") as file:
            schemas[name] = json.load(file)
        if jsonschema:
            jsonschema.Draft202012Validator.check_schema(schemas[name])
    if not jsonschema:
        print("python3-jsonschema is missing: the schema is skipped")
    for path in paths:
        found = problems(path, schemas)
        failed += bool(found)
        for text in found[:20]:
            print(f"{path}: {text}")
    print(f"{len(paths) - failed} passed, {failed} failed, {0 if jsonschema else 1} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
