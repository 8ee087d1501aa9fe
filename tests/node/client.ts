// What a front end writes against the contract compiles, and what the contract does not allow does not.
import type { components, paths } from "./generated/croupier";

type Schemas = components["schemas"];
type View = paths["/v1/sessions/{id}"]["get"]["responses"]["200"]["content"]["application/json"];
type Opened = paths["/v1/sessions"]["post"]["responses"]["201"]["content"]["application/json"];

/** The view's game tells its table apart. */
export function headline(view: View): string {
  switch (view.game) {
    case "spice-island-poker":
      return `${view.table.balance} chips, ${view.table.dealer.cards.length} cards against you`;
    case "skulls-and-swords":
      return `hand ${view.table.hand_number}, ${view.table.decks.game} cards left`;
    default:
      return "a game that this client does not draw";
  }
}

/** A client that knows no game follows the first action. */
export async function playOn(opened: Opened): Promise<Schemas["Moved"] | Schemas["Problem"]> {
  const [action] = opened.session.actions ?? [];
  const [seat] = opened.tokens;
  if (action === undefined || seat === undefined) throw new Error("nothing to do");
  const answer = await fetch(action.href, {
    method: action.method,
    headers: { Authorization: `Bearer ${seat.token}`, "Content-Type": "application/json" },
    body: JSON.stringify(action.example),
  });
  return (await answer.json()) as Schemas["Moved"] | Schemas["Problem"];
}

export const bet: Schemas["SpiceIslandPokerChoose"] = { action: "bet" };

// @ts-expect-error: the game has no such choice
export const raise: Schemas["SpiceIslandPokerChoose"] = { action: "raise" };

// @ts-expect-error: a body has the fields of its schema and no other
export const extra: Schemas["SpiceIslandPokerChoose"] = { action: "bet", amount: 5 };

// @ts-expect-error: the codes of problems are a closed list
export const code: Schemas["ProblemCode"] = "whoops";

// @ts-expect-error: a table is read by its game
export const table = (view: View): number => view.table.balance;
