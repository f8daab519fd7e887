import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { api } from './endpoints.ts'
import { type Resource, useResource } from './use-resource.ts'

const touchesReviews = (frame: HubFrame) =>
  frame.type === 'review_update' || frame.type === 'workload_removed'

/** What was done without an approval and waits for a second person; not fetched while `isAsked` is false. */
export const useReviews = (isAsked: boolean): Resource<ReviewRecord[]> =>
  useResource(isAsked ? 'reviews' : null, (abort) => api.reviews('open', abort), touchesReviews)

/** Whether the reader's look at it would count. */
export const isForMe = ({ own }: ReviewRecord): boolean => own === 'counts'
