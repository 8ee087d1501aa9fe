// Planted breaks: each of them has to be found, and what breaks nobody must not be.
import assert from "node:assert/strict";
import { test } from "node:test";
import { breaks, newest, read, unannounced } from "./breaking.mjs";

const contract = () => read("openapi.yaml");
const operation = (api, path = "/v1/sessions", verb = "post") => api.paths[path][verb];

const PLANTED = {
  "a path is gone": (api) => delete api.paths["/v1/sessions/{id}/confirm"],
  "a method is gone": (api) => delete api.paths["/v1/sessions/{id}"].delete,
  "an answer is gone": (api) => delete operation(api).responses[201],
  "an answer's field is gone": (api) => delete api.components.schemas.Lobby.properties.next,
  "an answer's field is of another type": (api) => (api.components.schemas.Lobby.properties.sessions = { type: "string" }),
  "an answer's field may be missing": (api) => (api.components.schemas.Lobby.required = []),
  "a body has a new field that it must have": (api) => {
    const seed = api.components.schemas.Seed;
    seed.properties.colour = { type: "string" };
    seed.required.push("colour");
  },
  "a query parameter must be given": (api) =>
    (operation(api, "/v1/sessions", "get").parameters ??= []).push({ name: "colour", in: "query", required: true, schema: { type: "string" } }),
  "a name may be shorter only": (api) => (api.components.schemas.Name.maxLength = 8),
};

for (const [fact, plant] of Object.entries(PLANTED)) {
  test(`it is found that ${fact}`, () => {
    const after = contract();
    plant(after);
    assert.notDeepEqual(breaks(contract(), after), []);
  });
}

test("the same contract breaks nothing", () => assert.deepEqual(breaks(contract(), contract()), []));

test("an operation more breaks nothing", () => {
  const after = contract();
  after.paths["/v1/more"] = { get: { responses: { 204: { description: "Nothing." } } } };
  assert.deepEqual(breaks(contract(), after), []);
});

test("an announcement covers what begins as it does, and nothing else", () => {
  const lines = ["remove paths /a get", "remove paths /b get"];
  assert.deepEqual(unannounced(lines, [{ change: "remove paths /a" }]), [lines[1]]);
});

test("releases are told apart by number", () => {
  assert.equal(newest(["v0.9.0.yaml", "v0.10.0.yaml", "announced.yaml", "v0.1.12.yaml"]), "v0.10.0.yaml");
});
