import type { Workload } from '../../fleet/state/model.ts'
import { isUnmanaged } from '../../model/unmanaged.ts'
import { findReportedConfig, listReportedConfigs } from '../../store/reported-configs.ts'
import type { ComparedWith } from '../../wire/plan.ts'
import { JudgeBusy } from '../judge/judge.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { untilFree } from '../judge/until-free.ts'

// Of a workload without a base only its report tells what it would lose. The report is compared, never patched or pushed.

/** Texts that are fetched in one statement. */
const TEXTS_CHUNK = 50
/** Longer reports are told apart by their hash alone, in UTF-8 bytes. */
const TEXT_BYTES_MAX = 262_144
/** Workloads of one report that are sent to a thread at once. */
const KEYS_CHUNK = 50

/** What a workload without a base reports to run, and what is its own in it. */
export interface OwnReport {
  hash: string
  /** Values that differ from workload to workload, by the names that stand for them. */
  own: Readonly<Record<string, string>>
}

/** The report that stands for the base of a workload which has none; null where it has one, or reports nothing. */
export function reportInPlaceOfBase(
  workload: Workload,
  variables: Readonly<Record<string, string>>,
): OwnReport | null {
  const reported = isUnmanaged(workload) ? workload.live.mostReported() : null
  if (reported === null) return null
  const host = workload.fingerprintKeys['host.name'] ?? ''
  return {
    hash: reported.hash,
    own: { ...variables, ...(host === '' ? {} : { 'identity/host.name': host }) },
  }
}

/**
 * A key for each of these reports, in their order: equal where they differ in nothing but what is a workload's own
 * (`reportKey`), as adoption groups them but for names of hosts and values of variables. Each text is read once. One that
 * is not kept, is very long or takes too long has its hash as the key.
 */
export async function keyReports(
  { db, configs, clock }: Pick<CampaignParts, 'db' | 'configs' | 'clock'>,
  reports: readonly OwnReport[],
): Promise<string[]> {
  const keys = reports.map(({ hash }) => hash)
  const places = new Map<string, number[]>()
  for (const [at, { hash }] of reports.entries()) {
    const known = places.get(hash)
    if (known === undefined) places.set(hash, [at])
    else known.push(at)
  }
  const hashes = [...places.keys()]
  for (let from = 0; from < hashes.length; from += TEXTS_CHUNK) {
    const some = hashes.slice(from, from + TEXTS_CHUNK)
    for (const { hash, body } of await listReportedConfigs(db, some, TEXT_BYTES_MAX)) {
      const all = places.get(hash)!
      for (let next = 0; next < all.length; next += KEYS_CHUNK) {
        const piece = all.slice(next, next + KEYS_CHUNK)
        const found = await untilFree(clock, () =>
          readKeys(
            configs,
            body,
            piece.map((at) => reports[at]!.own),
          ),
        )
        if (found !== null) for (const [index, at] of piece.entries()) keys[at] = found[index]!
      }
    }
  }
  return keys
}

async function readKeys(
  configs: CampaignParts['configs'],
  report: string,
  own: readonly OwnReport['own'][],
): Promise<string[] | null> {
  const found = await configs.reportKeys(report, own)
  if (!found.ok) throw new JudgeBusy(found)
  return found.keys
}

/** A text that a plan compares a result with, and what it is. */
export interface Compared {
  base: string
  comparedWith: ComparedWith
}

/**
 * What a result is compared with where there is no base: the report of this hash, as a single request is, written as the
 * result is; an empty text where there is none or it is not kept any more. Throws `JudgeBusy`.
 */
export async function compareWithReport(
  { db, configs }: Pick<CampaignParts, 'db' | 'configs'>,
  reportedHash: string | null,
  result: string,
): Promise<Compared> {
  const reported = reportedHash === null ? null : await findReportedConfig(db, reportedHash)
  if (reported === null) return { base: '', comparedWith: 'nothing' }
  const found = await configs.baseInWordsOf(result, reported)
  if (!found.ok) throw new JudgeBusy(found)
  // One that takes too long to be written otherwise is compared as it is.
  return { base: found.base ?? reported, comparedWith: 'reported' }
}
