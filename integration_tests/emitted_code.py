"""Emitted code, compiled by what is installed and run at given sizes of its symbols."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TIMEOUT = 300

_C_MAIN = """
#include <inttypes.h>
#include <stdio.h>
static void show(int64_t size) {
  if (size == SIZE_OVERFLOW) printf("\\"overflow\\"");
  else if (!has_value(size)) printf("null");
  else printf("%" PRId64, size);
}
int main(void) {
  static int64_t given[SYMBOLS + 1], sizes[SIZES + 1];
  static unsigned char holds[GUARDS + 1];
  char word[64];
  for (;;) {
    for (int i = 0; i < SYMBOLS; i++) {
      if (scanf("%63s", word) != 1) return 0;
      given[i] = SIZE_NOT_GIVEN;
      if (word[0] != 'n') sscanf(word, "%" SCNd64, &given[i]);
    }
    if (scanf("%63s", word) != 1) return 0;
    if (model_sizes(given, sizes, holds)) { printf("null\\n"); continue; }
    printf("[[");
    for (int i = 0; i < SIZES; i++) { if (i) printf(", "); show(sizes[i]); }
    printf("], [");
    for (int i = 0; i < GUARDS; i++) printf("%s%d", i ? ", " : "", holds[i]);
    printf("]]\\n");
  }
}
"""

_RUST_MAIN = """
fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut given = [None; SYMBOLS.len()];
        for (slot, word) in given.iter_mut().zip(&words) {
            *slot = word.parse().ok();
        }
        match sizes(&given) {
            Err(_) => println!("null"),
            Ok(found) => {
                let shown: Vec<String> = found.sizes.iter().map(|size| match size {
                    Ok(size) => size.to_string(),
                    Err(Fault::Overflow) => "\\"overflow\\"".to_string(),
                    Err(_) => "null".to_string(),
                }).collect();
                let holds: Vec<String> = found.holds.iter().map(|&held| (held as u8).to_string()).collect();
                println!("[[{}], [{}]]", shown.join(", "), holds.join(", "));
            }
        }
    }
}
"""

_JS_MAIN = """
import { readFileSync } from "node:fs";
for (const line of readFileSync(0, "utf8").trimEnd().split("\\n")) {
  const given = line.split(" ").slice(0, symbols.length).map((word) => (word === "n" ? null : BigInt(word)));
  let text = "null";
  try {
    const found = sizes(given);
    text = `[[${found.sizes.map(String).join(", ")}], [${found.holds.map(Number).join(", ")}]]`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  console.log(text);
}
"""


def found_languages() -> list[str]:
    """The languages that can run here: Python always, the others if their compiler is installed."""
    tools = {"c": "cc", "rust": "rustc", "js": "node"}
    return ["python", *(language for language, tool in tools.items() if shutil.which(tool))]


def run(language: str, text: str, bindings: Sequence[Sequence[int | None]], folder: Path) -> list[Any]:
    """For each list of sizes of the symbols: the sizes and guards, as `[sizes, holds]`; None if one is out of bounds.

    A size without a value is None, or "overflow".
    """
    if language == "python":
        namespace: dict[str, Any] = {}
        exec(text, namespace)
        return [_in_python(namespace["sizes"], given) for given in bindings]
    program = folder / "program"
    if language == "c":
        (folder / "sizes.c").write_text(text + _C_MAIN)
        warnings = "-Wall -Wextra -Werror -Wno-unused-function -Wno-unused-const-variable"
        checks = "-std=c99 -fsanitize=undefined -fno-sanitize-recover"
        command = ["cc", *warnings.split(), *checks.split(), "-o", str(program), str(folder / "sizes.c")]
        _done(command)
        start = [str(program)]
    elif language == "rust":
        (folder / "sizes.rs").write_text(text + _RUST_MAIN)
        _done(["rustc", "--edition=2021", "-C", "debuginfo=0", "-o", str(program), str(folder / "sizes.rs")])
        start = [str(program)]
    else:
        (folder / "sizes.mjs").write_text(text + _JS_MAIN)
        start = ["node", str(folder / "sizes.mjs")]
    lines = "".join(" ".join("n" if size is None else str(size) for size in given) + " .\n" for given in bindings)
    return list(map(json.loads, _done(start, lines).splitlines()))


def _in_python(sizes: Any, given: Sequence[int | None]) -> Any:
    try:
        found, holds = sizes(list(given))
    except ValueError:
        return None
    return [found, list(map(int, holds))]


def _done(command: list[str], given: str = "") -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stdout
