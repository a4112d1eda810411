-- Deletes the items whose IDs are in a file, each once. FIRST is the number of items to skip at the beginning of the
-- file.
-- Arguments: ITEM-PATH FILE-OF-IDS FIRST
local path, ids, count = "", {}, 0

function init(args)
  path = args[1]
  local first = tonumber(args[3])
  local line = 0
  for id in io.lines(args[2]) do
    line = line + 1
    if line > first then ids[#ids + 1] = id end
  end
end

function request()
  count = count + 1
  return wrk.format("DELETE", path .. ids[math.min(count, #ids)])
end
