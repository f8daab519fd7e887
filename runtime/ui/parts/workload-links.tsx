import { fillLinkTemplate, readLinkTemplate } from '../../../lib/model/link-template.ts'
import { nameOf } from '../../../lib/model/workload-names.ts'
import { clusterOf, environmentOf } from '../../../lib/model/workload-states.ts'
import type { WorkloadLink } from '../../../lib/wire/workload-links.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { say } from '../i18n/define.ts'
import { workloadLinkTexts } from '../i18n/workload-links.ts'
import { api } from '../state/endpoints.ts'
import { useResource } from '../state/use-resource.ts'
import { Menu } from './menu.tsx'

function LinkOut({ of: { name, url }, workload }: { of: WorkloadLink; workload: WorkloadRecord }) {
  const words = say(workloadLinkTexts)
  const read = readLinkTemplate(url)
  if (!read.ok) return null
  const filled = fillLinkTemplate(read.template, {
    id: workload.id,
    name: nameOf(workload),
    cluster: clusterOf(workload),
    environment: environmentOf(workload),
    labels: workload.labels ?? {},
  })
  if (!filled.ok)
    return (
      <span class="muted">
        {name} <span class="small">({words.missing(filled.missing.replace(/^label:/, ''))})</span>
      </span>
    )
  return (
    <a href={filled.url} target="_blank" rel="noopener noreferrer">
      {name}
      <span class="sr"> ({words.opensAnew})</span> <span aria-hidden="true">↗</span>
    </a>
  )
}

/** The ways from a workload to other programs, as a menu; nothing where none were set up. */
export function WorkloadLinks({ workload }: { workload: WorkloadRecord }) {
  const words = say(workloadLinkTexts)
  const links = useResource('workload-links', (abort) => api.workloadLinks(abort))
  const all = links.data?.links ?? []
  if (all.length === 0) return null
  return (
    <Menu label={words.openIn}>
      {all.map((link) => (
        <LinkOut key={link.name} of={link} workload={workload} />
      ))}
    </Menu>
  )
}
