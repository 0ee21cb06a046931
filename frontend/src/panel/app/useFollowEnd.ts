import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

const NEAR = 60;

interface FollowEnd {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly inner: RefObject<HTMLDivElement | null>;
  /** The person has scrolled up. */
  readonly away: boolean;
  readonly toEnd: () => void;
}

/** Stays at the end while text comes in, until the person scrolls up; then it leaves them where they are. */
export function useFollowEnd(): FollowEnd {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [away, setAway] = useState(false);
  const toEnd = useCallback(() => {
    following.current = true;
    setAway(false);
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);
  useEffect(() => {
    const scroller = box.current!;
    let height = scroller.scrollHeight;
    const scrolled = () => {
      const near = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
      // Growing moves the end away without anybody scrolling.
      if (!near && scroller.scrollHeight !== height && following.current) return;
      following.current = near;
      setAway(!near);
    };
    const grown = () => {
      height = scroller.scrollHeight;
      if (following.current) scroller.scrollTop = height;
    };
    const observer = new ResizeObserver(grown);
    observer.observe(scroller);
    observer.observe(inner.current!);
    scroller.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", scrolled);
    };
  }, []);
  return { box, inner, away, toEnd };
}
