import type { Item, Thread } from "./thread.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A thread under change, copy on write: each field is copied at most once, however many events a batch has. */
export class ThreadBuilder {
  readonly #from: Thread;
  #thread: Writable<Thread> | undefined;
  #copied = new Set<keyof Thread>();

  constructor(from: Thread) {
    this.#from = from;
  }

  get now(): Thread {
    return this.#thread ?? this.#from;
  }

  set<K extends keyof Thread>(key: K, value: Thread[K]): void {
    this.#thread ??= { ...this.#from };
    this.#thread[key] = value;
  }

  /** A writable copy of one of the thread's maps. */
  map<K extends MapKeys>(key: K): Thread[K] extends ReadonlyMap<infer A, infer B> ? Map<A, B> : never {
    if (!this.#copied.has(key)) {
      this.#copied.add(key);
      this.set(key, new Map(this.now[key] as ReadonlyMap<string, never>) as never);
    }
    return this.now[key] as never;
  }

  /** Replaces the item with this key, or appends it. */
  put(item: Item): void {
    const place = this.now.index.get(item.key);
    const items = this.#items();
    if (place === undefined) {
      this.map("index").set(item.key, items.length);
      items.push(item);
    } else {
      items[place] = item;
    }
  }

  /** Gives an item another key, so that the next one with its key is appended. */
  retire(item: Item): void {
    const place = this.now.index.get(item.key);
    if (place === undefined) return;
    const key = `${item.key}~${item.seq}`;
    this.#items()[place] = { ...item, key };
    const index = this.map("index");
    index.delete(item.key);
    index.set(key, place);
  }

  item(key: string): Item | undefined {
    const place = this.now.index.get(key);
    return place === undefined ? undefined : this.now.items[place];
  }

  #items(): Item[] {
    if (!this.#copied.has("items")) {
      this.#copied.add("items");
      this.set("items", [...this.now.items]);
    }
    return this.now.items as Item[];
  }
}

type MapKeys = { [K in keyof Thread]: Thread[K] extends ReadonlyMap<string, unknown> ? K : never }[keyof Thread];
