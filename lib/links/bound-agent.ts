import type { EffectiveForm, RunsConfig } from '../fleet/intake/effective-configs.ts'
import type { AgentConnection } from '../opamp/fleet-port.ts'
import type { AgentReport, Asked } from '../opamp/report.ts'
import type { LinkOffer } from './frames.ts'
import { KeptReport } from './kept-report.ts'

/** The effective config of an agent as a front keeps it; see `EffectiveConfigs`. */
export interface FrontConfig
  extends Pick<RunsConfig, 'rawEffectiveHash' | 'reportedConfigHash' | 'runsPipelines' | 'runsProfiles'> {
  /** What was read of it last; null before the first. While another one is read, this is still the former. */
  form: EffectiveForm | null
}

/** One agent on one socket of this process. */
export interface Bound extends FrontConfig {
  readonly uid: string
  readonly connection: AgentConnection
  uidOnWire: Uint8Array
  sequenceNum: number
  /** When it said something last; monotonic. */
  saidMs: number
  /** What it said last that it can; null before it did. */
  capabilities: number | null
  /** No message of the agent was missed since the last report to the owner that was answered or still may be. */
  isCaughtUp: boolean
  /** The owner was told of this agent over the present link. */
  isTold: boolean
  /** The number of its last report to the owner. */
  reportedAs: number
  /** It has said something that the owner has not answered. */
  isUnheard: boolean
  /** The number of the report with what it said last of a config; 0 before it is reported, null once that is stored. */
  unstoredAs: number | null
  /** Whether its bare beats are answered here (`grant`). */
  isGranted: boolean
  readonly report: KeptReport
  /** What it said last that it is; null before it did, and where that was given up. */
  attributes: ReadonlyMap<string, string> | null
  /** What it has said was given up for want of room (`KeptReports`), and it has not said it again. */
  isGivenUp: boolean
  /** How much is kept of it, in bytes. */
  keptBytes: number
  /** What the owner asks of it and its socket had no room for: it is asked with the answer to its next message. */
  unasked: Asked
  /** The newest offer that waits for the text of its config, and the number of its `tell`; null where none does. */
  offered: { offer: LinkOffer; n: number } | null
}

/** An effective config of which nothing is known yet. */
export const unknownConfig = (): FrontConfig => ({
  rawEffectiveHash: '',
  reportedConfigHash: '',
  runsPipelines: false,
  runsProfiles: false,
  form: null,
})

/** An agent that speaks for the first time on this socket. */
export const newBound = (connection: AgentConnection, report: AgentReport, nowMs: number): Bound => ({
  uid: report.uid,
  connection,
  uidOnWire: report.uidOnWire.slice(),
  report: new KeptReport(),
  sequenceNum: report.sequenceNum,
  saidMs: nowMs,
  capabilities: null,
  isCaughtUp: false,
  isTold: false,
  reportedAs: 0,
  isUnheard: false,
  unstoredAs: null,
  isGranted: false,
  unasked: {},
  offered: null,
  attributes: null,
  isGivenUp: false,
  keptBytes: 0,
  ...unknownConfig(),
})

/** Note what was just read of an effective config, as the owner is told of it. */
export function noteForm(config: FrontConfig): EffectiveForm {
  const { rawEffectiveHash: rawHash, reportedConfigHash: hash, runsPipelines, runsProfiles } = config
  config.form = { rawHash, hash, runsPipelines, runsProfiles }
  return config.form
}
