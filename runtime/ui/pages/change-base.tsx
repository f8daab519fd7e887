import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { baseInWordsOf, baseOfReport } from '../../../lib/configs/effective/base-of-report.ts'
import { deadEndOf } from '../../../lib/model/workload-states.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { changeTexts } from '../i18n/change.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { workableHashOf } from '../logic/workloads.ts'
import { Action } from '../parts/controls.tsx'
import type { Result } from '../state/api.ts'
import { api } from '../state/endpoints.ts'
import { query } from '../state/router.ts'
import { may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'

export interface Base {
  /** The hash of the config that is active now and works; undefined for none. */
  hash: string | undefined
  /** The text that is active now; empty when none is, and where it failed everywhere. */
  active: string
  /** The config that failed with nothing to go back to, where the draft starts from its text; null for any other. */
  failedHash: string | null
  /** What runs: the active text, else what the instances report; empty when neither is known. */
  running: string
  isReported: boolean
  /** The push of the config that is active; null where none is. */
  pushed: RevisionRecord | null
  /** What the draft starts from. */
  start: string
}

/** What a draft is compared with; what instances report is written as the draft is. */
export const useBefore = (base: Base, draft: string): string =>
  useMemo(() => (base.isReported ? baseInWordsOf(draft, base.running) : base.running), [base, draft])

/** Stands in the address in the place of a hash: a draft is to start from what most instances report to run. */
const REPORTED = 'reported'

/** The config in the history that the address says to start from. */
export const wantedHash = (): string | undefined => {
  const wanted = query.value.get('hash')
  return wanted === null || wanted === REPORTED ? undefined : wanted
}

/** The active config, and what the address says to start from. */
export async function loadBase(workload: WorkloadRecord, abort: AbortSignal): Promise<Result<Base>> {
  const { id } = workload
  const failed = deadEndOf(workload)
  // What failed everywhere runs nowhere, though it stays active for want of another one.
  const hash = workableHashOf(workload)
  const revision = hash ? await api.revision(id, hash, abort) : null
  if (revision?.ok === false && revision.status !== 404) return revision
  const active = revision?.ok === true ? (revision.value.content ?? '') : ''
  // Before muster's first push to the workload, the config that runs is the one that the instances report.
  const reported = active === '' && may('config:read_content') ? await api.reportedConfig(id, abort) : null
  if (reported?.ok === false && reported.status !== 404) return reported
  const running = reported?.ok ? reported.value.content : active
  const done = (start: string, failedHash: string | null = null): Result<Base> => ({
    ok: true,
    value: {
      hash,
      active,
      failedHash,
      running,
      isReported: reported?.ok === true,
      pushed: revision?.ok === true ? revision.value : null,
      start,
    },
    headers: new Headers(),
  })
  const template = query.peek().get('template')
  if (template) {
    const found = await api.template(template, abort)
    return found.ok ? done(found.value.content ?? '') : found
  }
  const wanted = query.peek().get('hash')
  if (wanted === REPORTED && reported?.ok) return done(baseOfReport(running, ''))
  if (wanted && wanted !== hash && wanted !== REPORTED) {
    const found = await api.revision(id, wanted, abort)
    return found.ok ? done(found.value.content ?? '') : found
  }
  // Most repairs change a few words of what failed.
  const broken = failed === null ? null : await api.revision(id, failed, abort)
  if (broken?.ok && broken.value.content) return done(broken.value.content, failed)
  return done(reported?.ok ? baseOfReport(running, '') : running)
}

/**
 * What a draft is compared with: what was active when it was begun, until its author takes what has become active since.
 * Nothing changes under a writer's hands, and nobody takes back unknowingly what somebody else pushed meanwhile.
 */
export function useKeptBase(workload: WorkloadRecord, begun: Base) {
  const kept = useSignal(begun)
  const hash = workableHashOf(workload)
  const hasMoved = kept.value.hash !== hash
  const newer = useResource(hasMoved ? `newer:${workload.id}:${hash ?? ''}` : null, (abort) =>
    loadBase(workload, abort),
  ).data
  return {
    base: kept.value,
    hasMoved,
    /** Compare with what is active now; null until that is known. */
    take:
      newer === null
        ? null
        : () => {
            kept.value = newer
            return newer
          },
  }
}

/** That another config became active while a draft was written, and the way to compare with that one. */
export function BaseMoved({ workload, onTake }: { workload: WorkloadRecord; onTake: (() => void) | null }) {
  const words = say(changeTexts)
  const hash = workableHashOf(workload)
  const push = workload.current_config_push
  const who = push?.config_hash === hash && push?.pushed_by !== 'auto-rollback' ? push?.pushed_by : ''
  return (
    <div class="notice t-warn" role="status">
      <div>
        <b>{hash === undefined ? words.movedAway : words.moved(shortHash(hash), who ?? '')}</b>{' '}
        {words.movedMore}
      </div>
      <Action reason={onTake === null ? words.checking : null} onClick={() => onTake?.()}>
        {words.takeNew}
      </Action>
    </div>
  )
}
