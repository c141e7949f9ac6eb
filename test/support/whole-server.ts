// Loaded before the first file of a process: whatever part of the server a file imports first, all of it is evaluated in
// the order of a server that starts. Some of its modules import each other.
import '../../server/src/app.ts';
