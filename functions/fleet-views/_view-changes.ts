import type { AuditEvent } from '../../lib/audit/event.ts'
import type { FleetView } from '../../lib/store/fleet-views.ts'
import type { Actor } from '../../runtime/define.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

/** What everybody sees is for those who make things for others. */
export const refuseSharing = ({ permissions }: Pick<Actor, 'permissions'>): Reply | null =>
  permissions.has('config:create') ? null : problem('forbidden')

/** What others share is removed by those who keep the settings. */
export const refuseRemovingOthers = ({ permissions }: Pick<Actor, 'permissions'>): Reply | null =>
  permissions.has('settings:manage') ? null : problem('forbidden')

/** The record of a change of what everybody sees. */
export const viewEvent = (
  action: 'fleet_view.share' | 'fleet_view.unshare',
  { id, name, query }: FleetView,
): Omit<AuditEvent, 'actor'> => ({
  action,
  resource: 'fleet_view',
  resourceId: id,
  detail: JSON.stringify({ name, query }),
})
