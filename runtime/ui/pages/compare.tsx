import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import { say } from '../i18n/define.ts'
import { shortHash } from '../i18n/format.ts'
import { historyTexts } from '../i18n/history.ts'
import { nameRevision } from '../i18n/sides.ts'
import { CompareView } from '../parts/code.tsx'
import { ActionLink, unless } from '../parts/controls.tsx'
import { Loaded } from '../parts/failure.tsx'
import { Head } from '../parts/page.tsx'
import { api } from '../state/endpoints.ts'
import { query } from '../state/router.ts'
import { can } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import { DiffSummary } from './diff-summary.tsx'

function Both({ id, older, newer }: { id: string; older: RevisionRecord; newer: RevisionRecord }) {
  const words = say(historyTexts)
  const [before, after] = [older.content ?? '', newer.content ?? '']
  if (before === after) return <p class="empty">{words.same}</p>
  return (
    <DiffSummary workloadId={id} before={before} after={after} reported={null} isInvalid={false}>
      <div class="pane flush">
        <CompareView before={before} after={after} sides={[nameRevision(older), nameRevision(newer)]} />
      </div>
    </DiffSummary>
  )
}

/** Two revisions of one workload, in words and line by line. */
export function ComparePage({ params }: { params: Record<string, string> }) {
  const words = say(historyTexts)
  const id = params['id'] ?? ''
  const from = query.value.get('from') ?? ''
  const to = query.value.get('to') ?? ''
  const one = useResource(`revision:${id}:${from}`, (abort) => api.revision(id, from, abort))
  const other = useResource(`revision:${id}:${to}`, (abort) => api.revision(id, to, abort))
  // Whatever was named first, the older one stands left.
  const isTurned = one.data !== null && other.data !== null && one.data.seq > other.data.seq
  const [before, after] = isTurned ? [other, one] : [one, other]
  const [older, newer] = isTurned ? [to, from] : [from, to]
  return (
    <>
      <Head
        title={words.compareTitle}
        beside={
          <span class="mono muted">
            {shortHash(older)} → {shortHash(newer)}
          </span>
        }
      >
        <ActionLink href={`/workloads/${id}/history`}>←</ActionLink>
        {can('config_safety.approvals') && (
          <ActionLink href={`/workloads/${id}/change?hash=${newer}`} reason={unless('config:request')}>
            {words.use}
          </ActionLink>
        )}
      </Head>
      <div class="stack" style={{ marginTop: '24px' }}>
        <Loaded of={before}>
          {(a) => <Loaded of={after}>{(b) => <Both id={id} older={a} newer={b} />}</Loaded>}
        </Loaded>
      </div>
    </>
  )
}
