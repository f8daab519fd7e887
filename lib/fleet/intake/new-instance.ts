import type { FleetClock } from '../../clock.ts'
import { SERVER_CAPABILITIES } from '../../opamp/report.ts'
import { NO_RHYTHM } from '../decide/poll-rhythm.ts'
import type { Instance } from '../state/model.ts'
import { CONNECTION_TOKENS, FULL_STATE_TOKENS, VERSION_TOKENS } from './tokens.ts'

/** The capabilities this server has: it takes status and effective configs, and offers remote configs. */
export const OUR_CAPABILITIES =
  SERVER_CAPABILITIES.acceptsStatus |
  SERVER_CAPABILITIES.offersRemoteConfig |
  SERVER_CAPABILITIES.acceptsEffectiveConfig

/** It has caused nothing yet of what it may cause so often only. */
const ALL_TOKENS = {
  fullStateTokens: FULL_STATE_TOKENS.burst,
  fullStateTokenMs: 0,
  versionTokens: VERSION_TOKENS.burst,
  versionTokenMs: 0,
  connectionTokens: CONNECTION_TOKENS.burst,
  connectionTokenMs: 0,
}

/** The times of one of which nothing was heard yet. */
function timesOf(clock: FleetClock) {
  const [now, saidMs] = [clock.now(), clock.machine.monotonicMs()]
  return {
    boundMs: { earliest: saidMs, latest: saidMs },
    connectedAt: now,
    connectedAtMs: clock.heardMs(),
    lastMessageAt: now,
    lastMessageMs: Number.NEGATIVE_INFINITY,
    lastSaidMs: saidMs,
  }
}

/** An instance of which nothing is known yet but its uid. */
export function createInstance(uid: string, uidOnWire: Uint8Array, clock: FleetClock): Instance {
  return {
    uid,
    uidOnWire,
    workload: null,
    tally: null,
    connection: null,
    isSaidAgain: false,
    rival: null,
    evictedConnectionId: null,
    sequenceNum: null,
    formerNum: null,
    isDescribed: false,
    undescribedSinceMs: null,
    isAnnounced: false,
    isUntold: false,
    podName: '',
    version: '',
    type: 'sdk',
    isExcluded: false,
    attributes: null,
    capabilities: 0,
    hasCapabilities: false,
    ...timesOf(clock),
    rhythm: NO_RHYTHM,
    storedIntervalMs: 0,
    health: null,
    unhealthySinceMs: null,
    unhealthySince: null,
    healthAwaitedSinceMs: null,
    reported: { isKnown: false },
    report: null,
    appliedHash: '',
    components: null,
    componentsHash: '',
    componentWait: null,
    rawEffectiveHash: '',
    configReader: null,
    reportedConfigHash: '',
    runsPipelines: false,
    runsProfiles: false,
    offer: null,
    unansweredOtherHash: null,
    lateHash: null,
    hasBeenAnswered: false,
    hasAskedFullState: false,
    fullStateAskedMs: 0,
    ...ALL_TOKENS,
    askedComponentsHash: null,
    componentAsks: 0,
    componentsAskedMs: 0,
    unasked: null,
    ...NEVER_LEFT,
  }
}

const NEVER_LEFT = { awaySinceMs: null, hasDeparted: false, cutOff: null, departedOn: null }
