import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { workloadTexts } from '../i18n/workload.ts'
import { instanceName, isUnwell, matchesInstance } from '../logic/instances.ts'
import { query, setQuery } from '../state/router.ts'

/** Whether an instance has what is searched for, in the reader's words as well. */
export function fitsSearch(instance: LiveInstance, workload: WorkloadRecord): boolean {
  const search = (query.value.get('find') ?? '').trim()
  if (search === '') return true
  const words = say(commonTexts)
  const status = instance.remote_config_status?.status
  const health = isUnwell(instance) ? 'unhealthy' : instance.healthy ? 'healthy' : 'settling'
  return matchesInstance(
    {
      texts: [
        instanceName(instance, workload),
        instance.instance_uid,
        instance.version,
        instance.effective_config_hash,
      ],
      states: [
        health,
        words[health],
        ...(status === undefined ? [] : [status, (words.push as Record<string, string>)[status] ?? '']),
      ],
    },
    search,
  )
}

/** Finds instances by name, version, config or state; how many there are is said beside it. */
export function InstanceSearch({ found, all }: { found: number; all: number }) {
  const words = say(workloadTexts)
  return (
    <>
      <input
        class="input grow"
        type="search"
        aria-label={words.findInstance}
        placeholder={words.findInstance}
        value={query.value.get('find') ?? ''}
        onInput={(event) => setQuery({ find: event.currentTarget.value })}
      />
      <span class="muted" role="status">
        {words.foundInstances(found, all)}
      </span>
    </>
  )
}
