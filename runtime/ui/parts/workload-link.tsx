import { nameOf, placeOf } from '../logic/workloads.ts'
import { fleetVersion, workloads } from '../state/fleet.ts'

/**
 * A workload that something else names by its id, as a link: its name, and what tells it from its namesakes. It follows the
 * fleet, which may come after what names it; the start of the id stands for a workload that the fleet does not hold.
 */
export function WorkloadLink({ id, look }: { id: string; look?: 'name' }) {
  void fleetVersion.value
  const workload = workloads.get(id)
  return (
    <>
      <a class={look} href={`/workloads/${id}`}>
        {workload ? nameOf(workload) : id.slice(0, 8)}
      </a>
      {workload && placeOf(workload) !== '' && <span class="sub">{placeOf(workload)}</span>}
    </>
  )
}
