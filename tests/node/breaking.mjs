// What of a contract a client could trip over that kept to an earlier one.
import { readFileSync, readdirSync } from "node:fs";
import { apiDiff } from "api-smart-diff";
import { load } from "js-yaml";

const ROOT = new URL("../../", import.meta.url);
const RELEASED = new URL("docs/released/", ROOT);

export const read = (path) => load(readFileSync(new URL(path, ROOT), "utf8"));

/** The name of the newest released contract, by version and not by letter. */
export function newest(names) {
  const numbers = (name) => name.match(/\d+/g).map(Number);
  const later = (a, b) => numbers(b).map((n, i) => n - numbers(a)[i]).find((d) => d !== 0) ?? 0;
  return names.filter((name) => /^v\d+\.\d+\.\d+\.yaml$/.test(name)).sort(later)[0];
}

/** Each breaking change as a line: what was done, where. */
export function breaks(before, after) {
  const lines = apiDiff(before, after)
    .filter(({ type, path }) => type === "breaking" && path[0] === "paths") // components count where they are used
    .map(({ action, path }) => `${action} ${path.join(" ")}`);
  return [...new Set(lines)];
}

/** The lines that no announcement covers; one covers all that begin as it does. */
export const unannounced = (lines, announced) => lines.filter((line) => !announced.some(({ change }) => line.startsWith(change)));

function main() {
  const released = newest(readdirSync(RELEASED));
  const announced = read("docs/released/announced.yaml") ?? [];
  const changelog = readFileSync(new URL("CHANGELOG.md", ROOT), "utf8").split("\n## ")[1].replace(/\s+/g, " ");
  const silent = announced.filter(({ changelog: words }) => !changelog.includes(words));
  const found = unannounced(breaks(read(`docs/released/${released}`), read("openapi.yaml")), announced);
  silent.forEach(({ changelog: words }) => console.error(`CHANGELOG.md's newest entry does not say: ${words}`));
  found.forEach((line) => console.error(`breaks clients of ${released}, and is not announced: ${line}`));
  if (found.length || silent.length) process.exit(1);
  console.log(`openapi.yaml breaks nothing of ${released} that is not announced`);
}

if (process.argv[1] === new URL(import.meta.url).pathname) main();
