import type { ComponentChildren } from 'preact'
import { findingTexts, translated } from '../i18n/check-findings.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatClock, formatDuration } from '../i18n/format.ts'
import type { Failure } from '../state/api.ts'
import { heardAt, hubState } from '../state/hub.ts'
import { sayRefusal } from '../state/refusals.ts'
import type { Resource } from '../state/use-resource.ts'
import { Head } from './page.tsx'

/** A failure in the reader's words; the server's own sentence where its code is not known here. */
export function describeFailure(failure: Failure): string {
  const words = say(commonTexts)
  const { status, code, body } = failure
  if (body.side_effect_status !== undefined) return words.auditAway(body.side_effect_status === 'applied')
  if (failure.lateMs !== undefined)
    return words.late(formatDuration(failure.lateMs), failure.isChange === true)
  if (status === 0) return words.noAnswer
  if (code === 'internal_error')
    return words.serverBroke(String((body as { request_id?: string }).request_id ?? ''))
  const said = code === undefined ? null : sayRefusal(code, body)
  if (said === null && status === 503) return words.databaseAway
  if (said === null && status >= 500) return words.serverBroke('')
  const finding = say(findingTexts)
  const detail = body.validation_errors?.map((one) => translated(finding, one.code, one.message)).join(' · ')
  return detail ? `${said ?? body.error}: ${detail}` : (said ?? body.error)
}

/** Why a page or a part of it has nothing to show, with a way to try again. */
export function FailureNotice({ failure, retry }: { failure: Failure; retry?: () => void }) {
  return (
    <div class="notice" role="alert">
      <div>{describeFailure(failure)}</div>
      {retry && failure.status !== 404 && failure.status !== 403 && (
        <button type="button" class="btn" onClick={retry}>
          {say(commonTexts).retry}
        </button>
      )}
    </div>
  )
}

/**
 * That something is on its way; and, where the server is silent, that it may not come: of a whole page with its `title`
 * then, as one cannot see any more what was asked for.
 */
export function Waiting({ title }: { title?: string | undefined }) {
  const words = say(commonTexts)
  const since = hubState.value === 'away' ? heardAt.value : null
  return (
    <>
      {since !== null && title !== undefined && <Head title={title} />}
      <p class="empty" role="status">
        {words.loading} {since && words.silentSince(formatClock(since))}
      </p>
    </>
  )
}

/** A resource once it is there; before, that it loads; instead, why it did not come. */
export function Loaded<T>({
  of,
  title,
  children,
}: {
  of: Resource<T>
  /** What a page is called that has no heading of its own until this is there. */
  title?: string
  children: (data: T) => ComponentChildren
}) {
  if (of.data !== null) {
    return (
      <>
        {of.failure && <FailureNotice failure={of.failure} retry={of.reload} />}
        {children(of.data)}
      </>
    )
  }
  if (!of.failure) return <Waiting title={title} />
  return (
    <>
      {title !== undefined && <Head title={title} />}
      <FailureNotice failure={of.failure} retry={of.reload} />
    </>
  )
}
