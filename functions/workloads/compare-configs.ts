import { defineSchedule } from '../../runtime/define.ts'

const EVERY_MS = 2_000
/** Lots of texts that are compared before others get the threads: hosts may each report one of their own. */
const LOTS_MAX = 8

/**
 * Find out whether instances still run what they applied: what somebody changed on a host is told by the list, the drift
 * and the overview, and not only by the page of that instance.
 */
export default defineSchedule({
  intervalMs: () => EVERY_MS,
  jitterMs: 0,
  async run({ views }, signal) {
    for (let lot = 0; lot < LOTS_MAX && !signal.aborted; lot++) if (!(await views.compareChanged())) return
  },
})
