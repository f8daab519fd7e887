import { nameOf } from '../../../lib/model/workload-names.ts'
import { placeOf } from '../../../lib/model/workload-states.ts'
import { say } from '../i18n/define.ts'
import { shellTexts } from '../i18n/shell.ts'
import { tellingFirst } from '../logic/workloads.ts'
import { callOf, isShared, namedOf, useNames } from '../state/names.ts'

/** A name of at most so many letters stands on one line, also where a hyphen would let it break. */
const SHORT_NAME = 20

interface WorkloadNameProps {
  name: string
  place?: string | undefined
  href: string
  look?: 'name' | undefined
  /** What stands beside the link is shown elsewhere. */
  isAlone?: boolean
}

/** A workload as a link: what tells it from its namesakes first and as the link, the rest beside it. */
export function WorkloadName({ name, place = '', href, look = 'name', isAlone = false }: WorkloadNameProps) {
  const [first, second] = tellingFirst(name, place, isShared(name))
  return (
    <>
      <a class={first.length <= SHORT_NAME ? `${look} short` : look} href={href}>
        {first}
      </a>{' '}
      {!isAlone && second !== '' && <span class="sub place">{second}</span>}
    </>
  )
}

/** What `WorkloadName` shows beside its link; '' for nothing. */
export const besideName = (name: string, place = ''): string => tellingFirst(name, place, isShared(name))[1]

/** The heading of a workload's page that does not come: what it is called, or else the part of the console that it is in. */
export function headingOf(id: string): string {
  const known = namedOf(id)
  return known ? callOf(known) : say(shellTexts).nav.fleet
}

/**
 * A workload that something else names by its id, as a link: its name, and what tells it from its namesakes. The start of
 * the id stands for one that is not known.
 */
export function WorkloadLink({ id, look }: { id: string; look?: 'name' }) {
  useNames([id])
  const workload = namedOf(id)
  const href = `/workloads/${id}`
  if (workload)
    return <WorkloadName name={nameOf(workload)} place={placeOf(workload)} href={href} look={look} />
  return (
    <a class={look} href={href}>
      {id.slice(0, 8)}
    </a>
  )
}
