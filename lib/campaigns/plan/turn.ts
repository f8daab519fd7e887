/** Targets of a plan that are put in order, given waves, hashed or counted before other work gets a turn. */
export const PLAN_TURN = 250
