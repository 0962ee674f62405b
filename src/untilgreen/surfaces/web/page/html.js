// JSX without a build step. Text of agents, gates and files is only ever a text node.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
