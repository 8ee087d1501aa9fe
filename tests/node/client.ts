// What a front end writes against the contract compiles, and what the contract does not allow does not.
import type { components, paths } from "./generated/croupier";

type Schemas = components["schemas"];
type View = paths["/v1/sessions/{id}"]["get"]["responses"]["200"]["content"]["application/json"];
type Refused =
  paths["/v1/sessions/{id}/choose"]["post"]["responses"]["409"]["content"]["application/problem+json"];
type Opened = paths["/v1/sessions"]["post"]["responses"]["201"]["content"]["application/json"];

/** The view's game tells its table apart. */
export function headline(view: View): string {
  switch (view.game) {
    case "spice-island-poker":
      return `${view.table.balance} chips, ${view.table.dealer.cards.length} cards against you`;
    case "skulls-and-swords":
      return `hand ${view.table.hand_number}, ${view.table.decks.game} cards left`;
    case "jackpot":
      return `${view.table.jackpot} chips, seat ${view.table.turn ?? "?"} to drop`;
    case "speed":
      return `${view.table.piles.left.top ?? "--"} ${view.table.piles.right.top ?? "--"}`;
    case "beat-the-dealer":
      return `seat ${view.table.guesser ?? "?"} guesses, ${view.table.deck} cards left`;
    default:
      return "a game that this client does not draw";
  }
}

/** What a stream tells is told apart by its kind, and the view in it by its game. */
export function heard(frame: Schemas["StreamFrame"]): string {
  if (frame.event === "end") return `over: ${frame.reason ?? "see the session"}`;
  const types = frame.events.map((event) => event.type).join(", ");
  return frame.view === undefined ? types : `${types}: ${headline(frame.view)}`;
}

/** An event is told apart by its type. */
export function seen(event: Schemas["SpeedEvent"]): string {
  return event.type === "play" ? `seat ${event.seat} played ${event.card[0]} ${event.pile}` : event.type;
}

/** A refused play says what a player wants to know. */
export function consoled(refused: Refused): string {
  switch (refused.code) {
    case "pile-changed":
      return `${refused.ms} ms late on the ${refused.pile} pile, seat ${refused.by ?? "none"} was first`;
    case "illegal-play":
    case "penalized":
      return `wait until ${refused.penalty_until}`;
    default:
      return refused.detail;
  }
}

export const seats: Schemas["OpenJackpot"]["seats"] = ["Anna", { open: true }, { bot: "hard" }];

export const taken: Schemas["Join"] = { seat: 1, bot: "easy" };

// @ts-expect-error: a bot has a level of its own
export const friend: Schemas["Join"] = { seat: 1, bot: "friendly" };

// @ts-expect-error: a game of one seat has no bots
export const alone: Schemas["OpenSpiceIslandPoker"]["seats"] = [{ bot: "easy" }];

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
