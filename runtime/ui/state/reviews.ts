import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { api } from './endpoints.ts'
import { me } from './session.ts'
import { type Resource, useResource } from './use-resource.ts'

const touchesReviews = (frame: HubFrame) =>
  frame.type === 'review_update' || frame.type === 'workload_removed'

/** What was done without an approval and waits for a second person; not fetched while `isAsked` is false. */
export const useReviews = (isAsked: boolean): Resource<ReviewRecord[]> =>
  useResource(isAsked ? 'reviews' : null, (abort) => api.reviews('open', abort), touchesReviews)

/** Whether somebody else did it, so that the reader may look at it. */
export const isForMe = ({ author_ids: authors }: ReviewRecord): boolean =>
  !authors.includes(me.value?.id ?? '')
