import type { FleetView as Kept, SeenFleetView } from '../../lib/store/fleet-views.ts'
import type { FleetView } from '../../lib/wire/fleet-views.ts'

/** A view as the wire shows it. */
export function toFleetView({ id, name, query, isShared, ...seen }: Kept | SeenFleetView): FleetView {
  const by = 'sharedBy' in seen ? seen.sharedBy : null
  return { id, name, query, shared: isShared, ...(by === null ? {} : { shared_by: by }) }
}
