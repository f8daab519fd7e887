import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** The present time in milliseconds, renewed each second while something is measured against it. */
export function useNow(isTicking: boolean): number {
  const now = useSignal(Date.now())
  useEffect(() => {
    if (!isTicking) return
    now.value = Date.now()
    const timer = setInterval(() => {
      now.value = Date.now()
    }, 1000)
    return () => clearInterval(timer)
  }, [isTicking, now])
  return now.value
}
