"""Real clients against a real server: webuiapi, openai and mcp from PyPI. Started by `run`."""

import asyncio
import base64
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import models
import openai
import webuiapi
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from PIL import Image

TOKEN = "a-token-for-clients"
SMALL = dict(prompt="a red circle", width=64, height=64, steps=2, seed=7)


def check(what, is_so):
    print(("ok    " if is_so else "WRONG ") + what, flush=True)
    if not is_so:
        sys.exit(1)


def a1111(port):
    api = webuiapi.WebUIApi(host="127.0.0.1", port=port)
    api.set_auth("anybody", TOKEN)
    check("webuiapi lists models", "starter" in api.util_get_model_names())
    check("webuiapi lists samplers", "Euler a" in api.util_get_sampler_names())
    api.util_set_model("starter")
    check("webuiapi chooses the model", api.util_get_current_model() == "starter")
    one = api.txt2img(**SMALL, sampler_name="Euler", cfg_scale=2)
    again = api.txt2img(**SMALL, sampler_name="Euler", cfg_scale=2)
    check("webuiapi: txt2img", one.image.size == (64, 64) and one.info["seed"] == 7)
    check("webuiapi: the same seed gives the same image", one.image.tobytes() == again.image.tobytes())
    check("webuiapi: nothing that it sends by default is warned of", one.info["warnings"] == [])
    four = api.txt2img(**SMALL, batch_size=2, n_iter=2)
    check("webuiapi: batches", four.info["all_seeds"] == [7, 8, 9, 10] and len(four.images) == 4)
    larger = api.txt2img(**SMALL, enable_hr=True, hr_scale=2, denoising_strength=0.6)
    check("webuiapi: hires fix", larger.image.size == (128, 128))
    red = Image.new("RGB", (64, 64), (200, 30, 30))
    mask = Image.new("L", (64, 64), 0)
    mask.paste(255, (0, 0, 32, 64))
    changed = api.img2img(images=[red], denoising_strength=0.8, **SMALL)
    check("webuiapi: img2img", changed.image.size == (64, 64) and changed.image.tobytes() != red.tobytes())
    inpainted = api.img2img(
        images=[red], mask_image=mask, mask_blur=0, inpaint_full_res=False, inpainting_fill=1, **SMALL
    )
    check("webuiapi: inpainting keeps the rest", inpainted.image.convert("RGB").getpixel((60, 30)) == (200, 30, 30))
    enlarged = api.extra_single_image(image=red, upscaler_1="upscaler", upscaling_resize=2)
    check("webuiapi: extra-single-image", enlarged.image.size == (128, 128))
    with_settings = Image.open(io.BytesIO(base64.b64decode(one.json["images"][0])))
    check("webuiapi: images have their settings", "Steps: 2" in with_settings.info["parameters"])
    check("webuiapi lists LoRAs", [lora["name"] for lora in api.get_loras()] == ["ink"])
    inked = api.txt2img(**{**SMALL, "prompt": "a red circle <lora:ink:1>"}, sampler_name="Euler", cfg_scale=2)
    check("webuiapi: a LoRA that the prompt names", inked.image.tobytes() != one.image.tobytes())
    check("webuiapi lists ControlNets", api.controlnet_model_list() == ["edges"])
    check("webuiapi lists preprocessors", "canny" in api.controlnet_module_list())
    unit = webuiapi.ControlNetUnit(image=mask, module="canny", model="edges")
    steered = api.txt2img(**SMALL, sampler_name="Euler", cfg_scale=2, controlnet_units=[unit])
    check("webuiapi: a ControlNet", steered.image.tobytes() != one.image.tobytes())
    found = webuiapi.ADetailer(ad_model="face", ad_confidence=0.3, ad_denoising_strength=0.6)
    refined = api.txt2img(**SMALL, sampler_name="Euler", cfg_scale=2, adetailer=[found])
    check("webuiapi: ADetailer", refined.image.tobytes() != one.image.tobytes())
    check("webuiapi: memory", api.get_memory()["ram"]["total"] > 0)

    result = {}
    waiting = threading.Thread(target=lambda: result.update(api.txt2img(**{**SMALL, "steps": 900}).info))
    waiting.start()
    while not (progress := api.get_progress())["current_image"]:
        time.sleep(0.05)
    check("webuiapi: progress with a preview", 0 < progress["progress"] < 1)
    api.interrupt()
    waiting.join()
    check("webuiapi: interrupt", result["interrupted"])
    try:
        api.txt2img(**{**SMALL, "width": 63})
        check("webuiapi: a wrong size is refused", False)
    except RuntimeError as error:
        check("webuiapi: a wrong size is refused in words", "multiple of" in str(error))
    try:
        webuiapi.WebUIApi(host="127.0.0.1", port=port, username="a", password="wrong").get_options()["sd_vae"]
        check("webuiapi: a wrong password is refused", False)
    except Exception:
        check("webuiapi: a wrong password is refused", True)


def openai_client(port):
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=TOKEN, max_retries=0)
    check("openai lists models", "starter" in [model.id for model in client.models.list()])
    wanted = dict(model="starter", prompt="a red circle", size="64x64", extra_body={"steps": 2, "seed": 7})
    answer = client.images.generate(**wanted, n=2, response_format="b64_json")
    images = [Image.open(io.BytesIO(base64.b64decode(image.b64_json))) for image in answer.data]
    check("openai: images.generate", [image.size for image in images] == [(64, 64), (64, 64)])
    red, mask = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (64, 64), (200, 30, 30)).save(red, "PNG")
    transparent = Image.new("RGBA", (64, 64), (0, 0, 0, 255))
    transparent.paste((0, 0, 0, 0), (0, 0, 32, 64))
    transparent.save(mask, "PNG")
    files = dict(image=("red.png", red.getvalue()), mask=("mask.png", mask.getvalue()))
    answer = client.images.edit(**wanted, **files)
    edited = Image.open(io.BytesIO(base64.b64decode(answer.data[0].b64_json))).convert("RGB")
    check("openai: images.edit keeps what is opaque", edited.getpixel((60, 30)) == (200, 30, 30))
    try:
        client.images.generate(model="dall-e-3", prompt="a")
        check("openai: an unknown model is refused", False)
    except openai.BadRequestError as error:
        check("openai: an unknown model is refused in words", "starter" in str(error))
    try:
        openai.OpenAI(base_url=client.base_url, api_key="wrong-token", max_retries=0).models.list()
        check("openai: a wrong key is refused", False)
    except openai.AuthenticationError:
        check("openai: a wrong key is refused", True)


async def mcp_client(program, folder):
    server = StdioServerParameters(
        command=program, args=["mcp", "--output", str(folder / "mcp")], env={**os.environ, "HOME": str(folder)}
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        check("mcp lists tools", tools == ["generate_image", "forecast", "list_models", "upscale", "map", "describe"])
        steps = []

        async def progress(step, *_):
            steps.append(step)

        made = await session.call_tool(
            "generate_image",
            {"prompt": "a red circle", "width": 64, "height": 64, "steps": 3},
            progress_callback=progress,
        )
        image = Image.open(io.BytesIO(base64.b64decode(made.content[0].data)))
        path = json.loads(made.content[1].text)["results"][0]["path"]
        check("mcp: generate_image", image.size == (64, 64) and Path(path).is_file())
        check("mcp: progress", len(steps) > 0)
        forecast = await session.call_tool("forecast", {"prompt": "a red circle"})
        check("mcp: forecast", json.loads(forecast.content[0].text)["fits"])
        larger = await session.call_tool("upscale", {"image": path, "scale": 2})
        image = Image.open(io.BytesIO(base64.b64decode(larger.content[0].data)))
        check("mcp: upscale", image.size == (128, 128))


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        environment = {**os.environ, "HOME": str(folder), "SLUICE_TOKEN": TOKEN}
        models.lora(folder / "models/ink.safetensors")
        models.control_net(folder / "models/edges.safetensors")
        models.detector(folder / "models/face.safetensors")
        command = [program, "serve", "--port", "0", "--output", str(folder / "served")]
        command += ["--model-folder", str(folder / "models")]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            port = int(server.stdout.readline().rsplit(":", 1)[1])
            a1111(port)
            openai_client(port)
        finally:
            server.terminate()
            server.wait()
        asyncio.run(mcp_client(program, folder))


main()
