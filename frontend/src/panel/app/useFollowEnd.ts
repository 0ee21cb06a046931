import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

const NEAR = 60;

interface FollowEnd {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly inner: RefObject<HTMLDivElement | null>;
  /** You have scrolled up. */
  readonly away: boolean;
  readonly toEnd: () => void;
}

/** Keeps the end in view while text arrives, until you scroll up. */
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
    const onScroll = () => {
      const near = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
      // Growing content moves the end away without any scrolling.
      if (!near && scroller.scrollHeight !== height && following.current) return;
      following.current = near;
      setAway(!near);
    };
    const onResize = () => {
      height = scroller.scrollHeight;
      if (following.current) scroller.scrollTop = height;
    };
    const observer = new ResizeObserver(onResize);
    observer.observe(scroller);
    observer.observe(inner.current!);
    scroller.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", onScroll);
    };
  }, []);
  return { box, inner, away, toEnd };
}
