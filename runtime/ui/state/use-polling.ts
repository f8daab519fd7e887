import { useEffect, useRef } from 'preact/hooks'

/** While `isOn`, read something again every `everyMs`; not in a tab that nobody sees. */
export function usePolling(isOn: boolean, reload: () => void, everyMs: number): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    if (!isOn) return
    const timer = setInterval(() => {
      if (!document.hidden) latest.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [isOn, everyMs])
}
